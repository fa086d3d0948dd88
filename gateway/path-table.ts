/**
 * Finds what serves the target of a request (RFC 9112, 3.2) by its path, in any case and with or without a slash at the end.
 * The paths are those of `table`, below `basePath`.
 */
export function createPathTable<Served>(
  basePath: string,
  table: Readonly<Record<string, Served>>,
): (target: string) => Served | undefined {
  const base = withoutSlash(basePath)
  const byPath = new Map<string, Served>()
  for (const [path, served] of Object.entries(table)) {
    // As it is written in the documentation, so that the usual request is found without making its path canonical.
    byPath.set(base + path, served)
    byPath.set(canonical(base + path), served)
  }
  return (target) => byPath.get(target) ?? byPath.get(canonical(pathOf(target)))
}

function pathOf(target: string): string {
  // A proxy may send the absolute form.
  const path = target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? target)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

const canonical = (path: string): string => withoutSlash(path).toLowerCase()

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

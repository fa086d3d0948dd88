import { decoded } from './ingest/request.ts'

/** The Project in front of an endpoint's path, and that path. */
const IN_PROJECT = /^\/projects\/([^/]+)(\/.*)$/i

/**
 * Finds the handler for a request target in origin form (RFC 9112, 3.2.1) by its path, ignoring case and a trailing slash. The paths of
 * `table` are below `basePath`, those of `inProject` below `/projects/<Project, percent-encoded>` there.
 */
export function createPathTable<Served>(
  basePath: string,
  table: Readonly<Record<string, Served>>,
  inProject: Readonly<Record<string, (project: string) => Served>>,
): (target: string) => Served | undefined {
  const base = withoutSlash(basePath)
  const byPath = new Map<string, Served>()
  for (const [path, served] of Object.entries(table)) {
    // The documented spelling, so that the usual request is found without canonicalising its path.
    byPath.set(base + path, served)
    byPath.set(canonical(base + path), served)
  }
  const byPathInProject = new Map(Object.entries(inProject).map(([path, serve]) => [canonical(path), serve]))

  function servedInProject(path: string): Served | undefined {
    if (canonical(path.slice(0, base.length)) !== canonical(base)) return undefined
    const [, name = '', rest = ''] = IN_PROJECT.exec(path.slice(base.length)) ?? []
    return byPathInProject.get(canonical(rest))?.(decoded(name))
  }

  return (target) => {
    const usual = byPath.get(target)
    if (usual !== undefined) return usual
    const [path = ''] = target.split(/[?#]/, 1)
    return byPath.get(canonical(path)) ?? servedInProject(path)
  }
}

const canonical = (path: string): string => withoutSlash(path).toLowerCase()

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

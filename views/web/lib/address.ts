/**
 * The place of a reader: the page as path segments, and its filters as parameters. All that one would share is in here, so that
 * copying the address is sharing what one sees.
 */
export interface Address {
  /** Decoded segments below the base path: `['flows', 'order-4711']`. */
  readonly path: readonly string[]
  /** Parameters with a value; those without are left out. */
  readonly params: Readonly<Record<string, string>>
}

/** Stands in the path for a last segment that no URL can hold there, which then is the parameter `key`. */
const ELSEWHERE = '-'

/**
 * The address that a URL's path and query name; never throws. `base` begins and ends with a slash. What is not percent-encoded
 * UTF-8 is taken as it stands.
 */
export function parseAddress(pathname: string, search: string, base: string): Address {
  // The base path may come without its last slash.
  const below = `${pathname}/` === base ? '' : pathname.slice(pathname.startsWith(base) ? base.length : 1)
  const path = below.replace(/\/$/, '').split('/').map(decode)
  const { key, ...others } = paramsOf(search)
  if (key === undefined) return { path: path.length === 1 && path[0] === '' ? [] : path, params: others }
  if (path.at(-1) === ELSEWHERE) return { path: [...path.slice(0, -1), key], params: others }
  return { path, params: { ...others, key } }
}

/** A parameter that is given twice has its first value. */
function paramsOf(search: string): Record<string, string> {
  const params: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) if (value !== '') params[name] ??= value
  return params
}

/** The URL of an address, without the origin. Text that is not well-formed Unicode is mended, as no URL can hold it. */
export function formatAddress({ path, params }: Address, base: string): string {
  const last = path.at(-1)
  const elsewhere = last !== undefined && path.length > 1 && UNFIT.test(last)
  const segments = elsewhere ? [...path.slice(0, -1), ELSEWHERE] : path
  const pairs = Object.entries(elsewhere ? { ...params, key: last } : params).filter(([, value]) => value !== '')
  const search = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  return base + segments.map(encodeSegment).join('/') + (search === '' ? '' : `?${search}`)
}

/** Browsers take these out of paths, encoded or not. */
const UNFIT = /^\.{1,2}$/

const encodeSegment = (text: string): string => encodeURIComponent(text.toWellFormed())

/** As readable as a query allows: `from=now-1h&category=Acme.Billing` and times keep their colons. */
const encode = (text: string): string =>
  encodeSegment(text)
    .replaceAll(/%(?:3A|2F|2C)/g, decodeURIComponent)
    .replaceAll('%20', '+')

/** Percent-encoded text; what is not UTF-8 is taken as it stands. */
export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The parts of an address that are to change. */
export interface AddressPatch {
  /** Another page. Its parameters begin anew, but for those that hold on every page. */
  readonly path?: readonly string[]
  /** Parameters to set, or to take away where undefined or empty; others stay. */
  readonly params?: Readonly<Record<string, string | undefined>>
}

/** Parameters that go along from page to page. */
const EVERYWHERE = ['utc', 'environment'] as const

export function patchAddress({ path, params }: Address, patch: AddressPatch): Address {
  const kept =
    patch.path === undefined ? params : Object.fromEntries(EVERYWHERE.map((name) => [name, params[name] ?? '']))
  const merged = Object.entries({ ...kept, ...patch.params }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return { path: patch.path ?? path, params: Object.fromEntries(merged) }
}

/**
 * Where a reader is: the page as path segments, and what it shows as parameters. All that one would share is in here, so that
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
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : pathname.replace(/^\//, '')
  const path = below.replace(/\/$/, '').split('/').map(decode)
  const params: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(search)) if (value !== '' && !(name in params)) params[name] = value
  const { key, ...others } = params
  if (path.at(-1) === ELSEWHERE && key !== undefined) return { path: [...path.slice(0, -1), key], params: others }
  return { path: path.length === 1 && path[0] === '' ? [] : path, params }
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

/** Dots alone are taken out of paths, encoded or not; an empty segment cannot be told from none. */
const UNFIT = /^(?:\.{0,2})$/

const encodeSegment = (text: string): string => encodeURIComponent(text.toWellFormed())

/** As readable as a query allows: `from=now-1h&category=Acme.Billing` and times keep their colons. */
const encode = (text: string): string =>
  encodeSegment(text).replaceAll('%20', '+').replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',')

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

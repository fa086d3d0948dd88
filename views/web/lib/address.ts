/**
 * The reader's location: the page as path segments, and its filters as parameters. It contains everything worth sharing, so that copying
 * the address shares the view.
 */
export interface Address {
  /** Decoded segments below the base path: `['flows', 'order-4711']`. */
  readonly path: readonly string[]
  /** Parameters with a value; empty ones are omitted. */
  readonly params: Readonly<Record<string, string>>
}

/** Placeholder for a last segment that no URL path can hold; the parameter `key` then holds it. */
const ELSEWHERE = '-'

/**
 * Parses a URL's path and query; never throws. `base` begins and ends with a slash. Text that is not percent-encoded UTF-8 is taken
 * literally.
 */
export function parseAddress(pathname: string, search: string, base: string): Address {
  // The base path may come without its trailing slash.
  const below = `${pathname}/` === base ? '' : pathname.slice(pathname.startsWith(base) ? base.length : 1)
  const path = below.replace(/\/$/, '').split('/').map(decode)
  const { key, ...others } = paramsOf(search)
  if (key === undefined) return { path: path.length === 1 && path[0] === '' ? [] : path, params: others }
  if (path.at(-1) === ELSEWHERE) return { path: [...path.slice(0, -1), key], params: others }
  return { path, params: { ...others, key } }
}

/** Of a repeated parameter, the first value counts. */
function paramsOf(search: string): Record<string, string> {
  const params: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) if (value !== '') params[name] ??= value
  return params
}

/** Formats an address as a URL without the origin. Malformed Unicode is replaced, as no URL can hold it. */
export function formatAddress({ path, params }: Address, base: string): string {
  const last = path.at(-1)
  const elsewhere = last !== undefined && path.length > 1 && UNFIT.test(last)
  const segments = elsewhere ? [...path.slice(0, -1), ELSEWHERE] : path
  const pairs = Object.entries(elsewhere ? { ...params, key: last } : params).filter(([, value]) => value !== '')
  const search = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  return base + segments.map(encodeSegment).join('/') + (search === '' ? '' : `?${search}`)
}

/** Browsers remove segments of dots from paths, encoded or not; and proxies refuse slashes (as Apache does) or decode them. */
export const UNFIT = /^\.{1,2}$|[/\\]/

const encodeSegment = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Encodes no more than a query requires: `from=now-1h&category=Acme.Billing` and times stay readable. */
const encode = (text: string): string =>
  encodeSegment(text)
    .replaceAll(/%(?:3A|2F|2C)/g, decodeURIComponent)
    .replaceAll('%20', '+')

/** Decodes percent-encoded text; text that is not UTF-8 is taken literally. */
export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Changes to an address. */
export interface AddressPatch {
  /** Another page. Its parameters are reset, except those that apply to every page, and a time range between the lists. */
  readonly path?: readonly string[]
  /** Parameters to set, or to remove if undefined or empty; others are kept. */
  readonly params?: Readonly<Record<string, string | undefined>>
}

/** Parameters that are kept between pages, and those that are kept between lists. */
const EVERYWHERE = ['utc', 'environment'] as const
const BETWEEN_LISTS = [...EVERYWHERE, 'from', 'to'] as const

const isList = ([page = '', ...below]: Address['path']): boolean => /^(flows|.*-logs)$/.test(page) && below.length === 0

/** The parameters with these names; those that are missing are undefined. */
export const pick = (
  params: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> => Object.fromEntries(names.map((name) => [name, params[name]]))

export function patchAddress({ path, params }: Address, patch: AddressPatch): Address {
  const { path: to = path } = patch
  const kept = patch.path === undefined ? params : pick(params, isList(path) && isList(to) ? BETWEEN_LISTS : EVERYWHERE)
  const merged = Object.entries({ ...kept, ...patch.params }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return { path: to, params: Object.fromEntries(merged) }
}

/** Parameters that open something beside what a page shows, or change its look alone. */
const BESIDE = { id: undefined, tab: undefined, utc: undefined, columns: undefined }

/** Whether two addresses show the same list, with the same filters in the same order. */
export const showSame = (one: Address, other: Address): boolean =>
  formatAddress(patchAddress(one, { params: BESIDE }), '/') ===
  formatAddress(patchAddress(other, { params: BESIDE }), '/')

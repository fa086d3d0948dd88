/** The base path that the page is served below; it begins and ends with a slash. */
export const BASE = document.querySelector('meta[name="base-path"]')?.getAttribute('content') ?? '/'

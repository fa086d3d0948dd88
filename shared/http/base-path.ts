/** A path below the configured base path, which is `/` or a path without a trailing slash. */
export const below = (basePath: string, path = ''): string => (basePath === '/' ? path : basePath + path)

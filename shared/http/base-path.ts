/** A path below the base path, as the configuration has it: `/`, or a path without a slash at its end. */
export const below = (basePath: string, path = ''): string => (basePath === '/' ? path : basePath + path)

/** The error of a process that has as many files and connections open as it may (EMFILE), or as its machine may have (ENFILE). */
export const FILES_EXHAUSTED = /\bE[MN]FILE\b/

/** Advice to the operator about it. */
export const NO_FILES = 'the process may not open as many files as it needs; raise its limit, ulimit -n'

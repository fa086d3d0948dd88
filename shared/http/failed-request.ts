/**
 * Says why a request has failed: `fetch` keeps the reason in the cause of its error, and a connection that was tried at several addresses
 * has a failure for each of them and no message of its own.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  if (cause instanceof Error) return reasonOf(cause)
  return error instanceof AggregateError && message === '' ? error.errors.map(reasonOf).join(', ') : message
}

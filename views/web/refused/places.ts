/** What is wrong, place by place, where the details say so; else the details as text. */
export function placesOf(details: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (details === null) return []
  if (
    Array.isArray(details) &&
    details.every(({ path, message }) => [path, message].every((one) => typeof one === 'string'))
  )
    return details
  return [{ path: '', message: JSON.stringify(details) }]
}

const DASHED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const OTHER_FORMS = [/^[0-9a-f]{32}$/i, /^\{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}$/i]

/**
 * The canonical form (36 characters, lower case) of a GUID given with dashes, without them, or in braces, as .NET's formats D, N and B
 * write it; undefined for any other text, also for surrounding whitespace.
 */
export function parseGuid(text: string): string | undefined {
  if (DASHED.test(text)) return text.toLowerCase()
  if (!OTHER_FORMS.some((form) => form.test(text))) return undefined
  const digits = text.replace(/[{}-]/g, '').toLowerCase()
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  )
}

/** The tokens of a message template (messagetemplates.org): doubled braces, and holes with an alignment and a format. */
const TOKEN = /\{\{|\}\}|\{[@$]?([\p{L}\p{N}_.]+)(?:,-?\d{1,9})?(:[^{}]*)?\}/gu

/**
 * The message that a template makes from an event's properties. A hole with a format takes the next of the `renderings`, which the sender
 * made for such holes in order; without them, formats and alignments are ignored. A hole without a property stays as it is. Undefined if
 * the message would exceed `charactersMax`, as a template can repeat a property at will.
 */
export function renderTemplate(
  template: string,
  properties: Readonly<Record<string, unknown>>,
  renderings: readonly unknown[],
  charactersMax: number,
): string | undefined {
  const parts: string[] = []
  let length = 0
  let end = 0
  let formatted = 0
  const put = (text: string): void => {
    parts.push(text)
    length += text.length
  }
  for (const match of template.matchAll(TOKEN)) {
    const [token, name, format] = match
    put(template.slice(end, match.index))
    end = match.index + token.length
    const rendering = format === undefined ? undefined : renderings[formatted++]
    if (name === undefined) put(token === '{{' ? '{' : '}')
    else if (typeof rendering === 'string') put(rendering)
    else put(Object.hasOwn(properties, name) ? textOf(properties[name]) : token)
    if (length > charactersMax) return undefined
  }
  put(template.slice(end))
  return length > charactersMax ? undefined : parts.join('')
}

/** Texts are inserted as they are, anything else as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

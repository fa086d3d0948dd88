import type { FlowLog } from './flow-log.ts'

/** Whether a log has every word and every "quoted phrase" of a text anywhere in what it shows, in any case. */
export function createMatcher(text: string): (log: FlowLog) => boolean {
  const parts = [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)]
    .map(([word, phrase]) => phrase ?? word)
    .filter((part) => part !== '')
  return (log) => {
    if (parts.length === 0) return false
    const shown = shownOf(log).toLowerCase()
    return parts.every((part) => shown.includes(part))
  }
}

function shownOf({ entry }: FlowLog): string {
  const { id, level, environment } = entry
  const texts =
    entry.kind === 'application'
      ? [
          entry.message,
          entry.exception,
          entry.categoryName,
          entry.eventName,
          entry.project.name,
          entry.scopeData && JSON.stringify(entry.scopeData),
        ]
      : [entry.payload, entry.event?.name, entry.event?.identifier, entry.step?.name, entry.step?.identifier]
  // Line ends keep a phrase from matching across two fields.
  return [...texts, id, level, environment].join('\n')
}

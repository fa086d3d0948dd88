import type { FlowLog } from '../../flow-layout/flow-log.ts'

/** Whether a log has every word and every "quoted phrase" of a text anywhere in what it shows, in any case. */
export function createMatcher(text: string): (log: FlowLog) => boolean {
  const parts = [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)].map(([word, phrase]) => phrase ?? word)
  return ({ entry }) => {
    // Line ends keep a phrase from matching across two fields.
    const shown = Object.values(entry)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join('\n')
      .toLowerCase()
    return parts.every((part) => shown.includes(part))
  }
}

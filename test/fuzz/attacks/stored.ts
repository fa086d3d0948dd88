import { STORED_ID, TEAMS } from '../material.ts'
import {
  type Attack,
  ask,
  askPipelined,
  details,
  KEY,
  LEFT,
  send,
  shown,
  store,
  storeBatch,
  times,
  together,
  words,
} from './tools.ts'

const LIST = '/api/application-logs?limit=1000'
const EXPORT = '/api/application-logs/export'

/** A template whose placeholders repeat a long value. */
const expandedScopes: Attack = (context, size) => {
  const [scopes, holes, length] = size === 'full' ? [12, 13_000, 38_000] : [4, 200, 200]
  const scope = { '{OriginalFormat}': '{a}'.repeat(holes), a: 'x'.repeat(length) }
  return [together([store(context, { scopeData: { Scopes: times(scopes, () => scope) } })]), shown, details]
}

const expandedHoles: Attack = (context, size) => {
  const [holes, length] = size === 'full' ? [10_000, 10_000] : [100, 100]
  const scopeData = {
    '{OriginalFormat}': '{a}'.repeat(holes),
    a: 'x'.repeat(length),
    Scopes: [{ '{OriginalFormat}': '{a}'.repeat(holes), a: 'x'.repeat(length) }],
  }
  return [together([store(context, { scopeData })]), shown, details]
}

const manyScopes: Attack = (context, size) => {
  const Scopes = times(size === 'full' ? 40_000 : 400, () => ({ a: 1 }))
  return [together([store(context, { scopeData: { Scopes } })]), shown, details]
}

const longPath: Attack = (context, size) => {
  const [length, leaves] = size === 'full' ? [900_000, 300] : [2_000, 30]
  const inside = Object.fromEntries(times(leaves, (index) => [`k${index}`, index]))
  return [together([store(context, { scopeData: { ['k'.repeat(length)]: inside } })]), shown, details]
}

const wideScopes: Attack = (context, size) => {
  const [batches, entries, keys] = size === 'full' ? [2, 100, 5_000] : [1, 10, 200]
  const scopeData = Object.fromEntries(times(keys, (index) => [`key${index}`, index]))
  const batch = storeBatch(
    context,
    times(entries, () => ({ scopeData })),
  )
  const list = ask(`/api/application-logs?limit=${entries * batches}&order=desc`)
  const one = store(context, { scopeData })
  return [together([...times(batches, () => batch), one]), shown, together(times(size === 'full' ? 5 : 1, () => list))]
}

const commonWords: Attack = (context, size) => {
  const [entries, repeats, searched] = size === 'full' ? [40, 450_000, 100] : [2, 500, 20]
  const stored = times(entries, () => store(context, { message: `${context.mark} ${'a '.repeat(repeats)}` }))
  const phrase = encodeURIComponent(`"${'a '.repeat(searched)}"`)
  return [together(stored), shown, together([ask(`/api/application-logs?limit=5&q=${phrase}`)])]
}

const commandInRefusal: Attack = () => [
  together([
    send('/api/ExternalLogs', '\x03\ntouch X\n'),
    send('/api/ApplicationLogs', '{"a":"\x1b]0;x\x07\r\ntouch X\n"}'),
  ]),
  together([ask('/api/refusals?limit=20')]),
]

const formulas: Attack = (context) => {
  const texts = ['=1+1', ' =1+1', '\t=1+1', '＝1+1', '＋1', '－1', '＠x', '@x', '-1+1', '\u00a0=1', '\u200b=1']
  const scripts = texts.map((message) => store(context, { message, eventName: context.mark }))
  const found = `${EXPORT}?format=csv&q=eventName:${context.mark}`
  return [together(scripts), shown, together([ask(found, { dialect: 'export' })])]
}

/** Entries of maximum size, and one of the ways to read them all. */
const largeEntries: Attack = (context, size) => {
  const { random, material } = context
  const [entries, length] = size === 'full' ? [40, 900_000] : [4, 5_000]
  const stored = times(entries, () => store(context, { message: `${context.mark} ${words(context, length)}` }))
  const many = size === 'full'
  const stream = { dialect: 'export' } as const
  const tail = `/api/application-logs/tail?lastEventId=${material.cursors.tail[1] ?? ''}`
  const readers = random.pick([
    () => [ask(LIST)],
    () => [ask(EXPORT, stream)],
    () => times(many ? 5 : 1, () => ask(EXPORT, { ...stream, end: LEFT })),
    () => times(many ? 30 : 2, () => ask(LIST, { end: LEFT })),
    () => times(many ? 20 : 2, () => ask(LIST, { method: 'HEAD' })),
    () => times(many ? 5 : 2, () => ask(EXPORT, { ...stream, method: 'HEAD' })),
    () => times(many ? 49 : 2, () => ask(tail, { dialect: 'tail', end: LEFT })),
    () => times(many ? 10 : 2, () => askPipelined(many ? 30 : 3, LIST, { end: LEFT })),
  ])()
  return [together(stored), shown, together(readers)]
}

/** A drawing of a flow with many entries. */
const largeDrawing: Attack = (context, size) => {
  const correlationKey = `drawn ${context.mark}`
  const batches = times(size === 'full' ? 30 : 1, () =>
    storeBatch(
      context,
      times(size === 'full' ? 100 : 10, (index) => ({
        correlationKey,
        message: `${context.mark} <&"'\0\x1b ${index}`,
      })),
    ),
  )
  const drawing = `/api/flows/${encodeURIComponent(correlationKey)}/export?format=svg`
  return [
    together([...batches, store(context, { correlationKey })]),
    shown,
    together(times(size === 'full' ? 5 : 1, () => ask(drawing, { dialect: 'export' }))),
  ]
}

const wideTeam: Attack = (_context, size) => {
  const headers = [['X-API-Key', TEAMS.wide.key]] as const
  return [together(times(size === 'full' ? 4 : 1, () => ask('/api/team/lists', { headers })))]
}

const oneEntry: Attack = (context) => [
  together([store(context, {})]),
  shown,
  together([ask(`${EXPORT}?q=id:${STORED_ID}`, { dialect: 'export', headers: [KEY] })]),
]

/** Entries that harm their readers. */
export const STORED: Readonly<Record<string, Attack>> = {
  'expanded scopes': expandedScopes,
  'expanded holes': expandedHoles,
  'many scopes': manyScopes,
  'long path': longPath,
  'wide scopes': wideScopes,
  'common words': commonWords,
  'command in a refusal': commandInRefusal,
  formulas,
  'large entries': largeEntries,
  'large drawing': largeDrawing,
  'wide Team': wideTeam,
  'one entry': oneEntry,
}

import { execFileSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { curlOf, shellQuote } from '../../../../views/details/curl.ts'
import type { Entry } from '../../../../views/flow-layout/types.ts'
import { applicationEntry, eventEntry } from './entries.ts'

/** What a shell would give to `curl`: its arguments, and what stands on its standard input. */
function run(command: string): { readonly args: readonly string[]; readonly body: unknown } {
  const stub = `curl() { printf '%s\\0' "$@"; case "$*" in *'@-'*) cat;; esac; }`
  const out = execFileSync('bash', { encoding: 'utf8', maxBuffer: 1e9, input: `${stub}\n${command}\n` })
  const parts = out.split('\0')
  const data = parts.indexOf('--data-raw')
  return { args: parts, body: JSON.parse(data === -1 ? (parts.at(-1) ?? '') : (parts[data + 1] ?? '')) }
}

describe('an entry as a command that sends it again', () => {
  test('an event log', () => {
    expect(curlOf(eventEntry())).toBe(`curl '<GATEWAY>/api/ExternalLogs' \\
  -H 'X-API-Key: <API_KEY>' \\
  -H 'Content-Type: application/json' \\
  --data-raw '{"uniqueIdentifier":"order-placed.validate","payload":"{\\"order\\":4711}","level":"Information","correlationKey":"order-4711","environment":"Production"}'`)
  })

  test('an event log of the Event itself goes to the Event', () => {
    expect(run(curlOf(eventEntry({ step: null }))).body).toMatchObject({ uniqueIdentifier: 'order-placed' })
  })

  test('an application log has all its fields and nothing that the gateway gives', () => {
    const { args, body } = run(curlOf(applicationEntry()))
    expect(args).toContain('<GATEWAY>/api/ApplicationLogs')
    expect(body).toEqual({
      uniqueIdentifier: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      categoryName: 'Acme.Billing.Invoices',
      eventId: 2002,
      eventName: 'InvoiceFailed',
      message: 'Invoice 4711 could not be sent',
      level: 'Information',
      exception: null,
      scopeData: { tenant: 'acme' },
      correlationKey: 'order-4711',
      environment: 'Production',
    })
  })

  test.each<[string, Entry]>([
    ['quotes and substitutions', eventEntry({ payload: `'; rm -rf $HOME; echo "\`id\`" $(id) \\ !!'` })],
    [
      'line ends and controls',
      applicationEntry({ message: 'a\nb\r\n\0\x1b[31mred\x07', exception: '\x9b31m\u202eevil' }),
    ],
    ['a megabyte', eventEntry({ payload: "it's ".repeat(200_000) })],
  ])('%s come through a shell as they are', (_name, entry) => {
    const { body } = run(curlOf(entry))
    expect(body).toMatchObject(
      entry.kind === 'event' ? { payload: entry.payload } : { message: entry.message, exception: entry.exception },
    )
  })

  test('nothing in the command is obeyed by a terminal or unseen by a reader', () => {
    const command = curlOf(applicationEntry({ message: '\x1b[2J\x7f\x9b\u202e\u2066\ufeff\u200b' }))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(command).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/)
  })

  test('any text is one word of a shell', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.includes('\0') && text.isWellFormed())
        expect(execFileSync('bash', ['-c', `printf %s ${shellQuote(text)}`], { encoding: 'utf8' })).toBe(text)
      }),
      { numRuns: 40 },
    )
  })
})

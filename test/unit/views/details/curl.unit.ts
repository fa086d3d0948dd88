import { describe, expect, test } from 'vitest'
import { curlOf, curlTo, shellWord } from '../../../../views/details/curl.ts'
import type { Entry } from '../../../../views/schemas/answers.ts'
import * as fc from '../../../support/fast-check.ts'
import { pasted, scripted } from '../../../support/shell.ts'
import { applicationEntry, eventEntry } from './entries.ts'

/** The arguments that a shell gives to `curl`. */
function run(command: string | null) {
  const [args = []] = scripted(command ?? '')
  return { args, body: JSON.parse(args.at(-1) ?? '') }
}

/** Texts that must not stand in a command. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Bodies of any text, most of them made of what shells, terminals and line editors give a meaning. */
const special = fc.constantFrom(
  ...['\\', "'", '"', '!', '!!', '$', '`', '\n', '\r', '\t', '\x03', '\x04', '\x15', '\x16', '\x1b', '\x7f', '\x9b'],
  ...[
    '\u202e',
    '\u{e0041}',
    '\x1b[201~',
    '\ntouch made\n',
    "'; touch made; '",
    '$(touch made)',
    'é',
    '😀',
    'a',
    '1',
    '#',
  ],
)
const bodies = fc
  .oneof(
    fc.array(special, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  .filter((text) => !text.includes('\0'))

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
      applicationEntry({ message: 'a\nb\r\n\0\x1b[31mred\x07', exception: '\x9b31m\u202eevil\u{e0041}' }),
    ],
    ['fifty thousand bytes', eventEntry({ payload: "it's ".repeat(10_000) })],
  ])('%s come through a shell as they are', (_name, entry) => {
    const { body } = run(curlOf(entry))
    expect(body).toMatchObject(
      entry.kind === 'event' ? { payload: entry.payload } : { message: entry.message, exception: entry.exception },
    )
  })

  test('nothing in the command is obeyed by a terminal or unseen by a reader; any shell reads it', () => {
    const command =
      curlOf(applicationEntry({ message: '\x1b[2J\x7f\x9b\u202e\u2066\ufeff\u200b\u00ad\u{e0041}' })) ?? ''
    expect(command.replaceAll('\n', '')).not.toMatch(UNSEEN)
    expect(command).not.toContain("$'")
  })

  test.each(['x', 'é', "'"])('is there as long as a command can hold it: %j', (character) => {
    const command = (length: number) => curlOf(eventEntry({ payload: character.repeat(length) }))
    const most = Math.floor((131_071 - JSON.stringify(run(command(0)).body).length) / Buffer.byteLength(character))
    expect(command(most)).not.toBeNull()
    expect(command(most + 1)).toBeNull()
  })
})

describe('any body as a command', () => {
  test('is sent as it is, byte by byte, and nothing else is run', () => {
    fc.assert(
      fc.property(fc.array(bodies, { minLength: 1, maxLength: 20 }), (sent) => {
        const calls = scripted(...sent.map((body) => curlTo('/api/ExternalLogs', body) ?? ''))
        expect(calls.map((args) => args.at(-1))).toEqual(sent.map((body) => body.toWellFormed()))
      }),
      { numRuns: 40 },
    )
  })

  test.each([true, false])(
    'is sent as it is where it is pasted into a terminal; marked as pasted: %j',
    async (marked) => {
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const [args, ...more] = await pasted(curlTo('/api/ExternalLogs', body) ?? '', marked)
          expect([args?.at(-1), more]).toEqual([body.toWellFormed(), []])
        }),
        {
          numRuns: 25,
          examples: [
            ['\x03\ntouch made\n'],
            ['\x1b[201~\ntouch made\n'],
            ['{\n\t"a": "b !! c"\n}'],
            ["it's !! 'x' !$"],
          ],
        },
      )
    },
  )

  test('holds nothing that a terminal obeys or that cannot be seen', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(shellWord(body)).not.toMatch(UNSEEN)
      }),
    )
  })

  test('is none where it holds a zero, which no argument can', () => {
    expect(curlTo('/api/ExternalLogs', 'a\0b')).toBeNull()
  })
})

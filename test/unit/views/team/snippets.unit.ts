import { describe, expect, test } from 'vitest'
import { snippetsOf } from '../../../../views/team/snippets.ts'
import * as fc from '../../../support/fast-check.ts'
import { pasted, scripted } from '../../../support/shell.ts'

const GATEWAY = '<GATEWAY>'
const codeOf = (language: string, ...target: Parameters<typeof snippetsOf>): string =>
  snippetsOf(...target).find(({ id }) => id === language)?.code ?? ''

const HOSTILE = [
  'order-placed',
  `it's "quoted" \\ $HOME \`id\` $(id)`,
  'wow!! !$ !-1',
  'two\nlines\r\u2028\u0000',
  '</script><b>&amp;',
  '{curly} %s #{x} $y',
  'größe 注文 😀',
]
const identifiers = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', minLength: 1 }))

interface Sent {
  readonly url: string
  readonly init: { readonly headers: Record<string, string>; readonly body: string }
}

/** The request that the TypeScript sends. */
async function fetched(code: string): Promise<Sent> {
  let sent: Sent | undefined
  const fetch = async (url: string, init: Sent['init']) => {
    sent = { url, init }
    return { json: async () => ({}) }
  }
  const AsyncFunction = Object.getPrototypeOf(fetch).constructor
  await new AsyncFunction('fetch', 'console', code)(fetch, { log: () => undefined })
  if (sent === undefined) throw new Error('nothing was sent')
  return sent
}

describe('the code that sends a log', () => {
  test('is there in four languages, with the address and a place for the key', () => {
    const snippets = snippetsOf('step', 'order-placed.pay')
    expect(snippets.map(({ name }) => name)).toEqual(['cURL', 'C#', 'TypeScript', 'Python'])
    for (const { code } of snippets) {
      expect(code).toContain(`${GATEWAY}/api/ExternalLogs`)
      expect(code.split('<API_KEY>')).toHaveLength(2)
      expect(code).toContain('"order-placed.pay"')
    }
  })

  test('addresses a Project as an application log', async () => {
    const { url, init } = await fetched(codeOf('typescript', 'project', 'some-guid'))
    expect(url).toBe(`${GATEWAY}/api/ApplicationLogs`)
    expect(JSON.parse(init.body)).toEqual({
      uniqueIdentifier: 'some-guid',
      categoryName: 'Shop.Checkout',
      message: 'Order 4711 was placed',
      level: 'Information',
      correlationKey: 'order-4711',
    })
  })

  test.each(HOSTILE)('in a shell sends %j as it is, and runs nothing else', async (id) => {
    const code = codeOf('curl', 'event', id)
    const [[url, ...rest] = []] = scripted(code)
    expect(url).toBe(`${GATEWAY}/api/ExternalLogs`)
    expect(rest.slice(0, 4)).toEqual(['-H', 'X-API-Key: <API_KEY>', '-H', 'Content-Type: application/json'])
    expect(rest[4]).toBe('-d')
    expect(JSON.parse(rest[5] ?? '')).toMatchObject({ uniqueIdentifier: id, level: 'Information' })
    for (const bracketed of [true, false]) expect(await pasted(code, bracketed)).toEqual([[url, ...rest]])
  })

  test('in TypeScript sends any identifier as it is', async () => {
    await fc.assert(
      fc.asyncProperty(identifiers, async (id) => {
        const { init } = await fetched(codeOf('typescript', 'event', id))
        expect(JSON.parse(init.body).uniqueIdentifier).toBe(id)
      }),
    )
  })

  test('holds nothing beyond ASCII, and no character that could end a literal', () => {
    fc.assert(
      fc.property(identifiers, (id) => {
        for (const { code } of snippetsOf('event', id)) {
          expect(code).toMatch(/^[\x20-\x7e\n]*$/)
          const [, literal = ''] = /uniqueIdentifier"?(?::| =) (".*"),?$/m.exec(code) ?? []
          expect(JSON.parse(literal)).toBe(id)
          expect(literal).not.toMatch(/['<&$`!]/)
        }
      }),
    )
  })
})

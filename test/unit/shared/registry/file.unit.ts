import { describe, expect, test } from 'vitest'
import { parseRegistryFile } from '../../../../shared/registry/file.ts'
import * as fc from '../../../support/fast-check.ts'

const EXAMPLE = `teams:    [{ id: payments, name: Payments, apiKeys: ["key-one"] }]
events:   [{ identifier: order-placed, team: payments, name: Order placed }]
steps:    [{ identifier: order-placed.validate, team: payments, event: order-placed, name: Validate, order: 1 }]
projects: [{ id: 3F2504E0-4f89-11d3-9a0c-0305e82c3301, team: payments, name: Checkout API }]
`

function problemsOf(text: string): string[] {
  return parseRegistryFile(text).problems.map(({ line, message }) => `${line}: ${message}`)
}

describe('a registry file', () => {
  test('has Teams, Events, Steps and Projects, each with its line', () => {
    expect(parseRegistryFile(EXAMPLE)).toEqual({
      problems: [],
      file: {
        teams: [{ line: 1, id: 'payments', name: 'Payments', apiKeys: [{ line: 1, key: 'key-one' }] }],
        events: [{ line: 2, id: 'order-placed', team: 'payments', name: 'Order placed' }],
        steps: [
          {
            line: 3,
            id: 'order-placed.validate',
            team: 'payments',
            event: 'order-placed',
            name: 'Validate',
            order: 1,
          },
        ],
        projects: [{ line: 4, id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', team: 'payments', name: 'Checkout API' }],
      },
    })
  })

  test('leaves out what it does not say', () => {
    const { file, problems } = parseRegistryFile('teams: [{ id: a }]\nsteps: [{ identifier: s, team: a }]\nevents:\n')
    expect(problems).toEqual([])
    expect(file.teams[0]).toEqual({ line: 1, id: 'a', name: undefined, apiKeys: undefined })
    expect(file.steps[0]).toMatchObject({ event: undefined, order: undefined, name: undefined })
    expect([file.events, file.projects]).toEqual([[], []])
  })

  test('tells a Step that stands alone from one whose Event is left out, and no key from keys left out', () => {
    const { file } = parseRegistryFile(
      'teams: [{ id: a, apiKeys: [] }]\nsteps: [{ identifier: s, team: a, event: null }]',
    )
    expect(file.teams[0]?.apiKeys).toEqual([])
    expect(file.steps[0]?.event).toBeNull()
  })

  test('takes a GUID without dashes or in braces', () => {
    const { file } = parseRegistryFile(`projects:
  - { id: "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}", team: a }
  - { id: 3f2504e04f8911d39a0c0305e82c3302, team: a }`)
    expect(file.projects.map(({ id }) => id)).toEqual([
      '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      '3f2504e0-4f89-11d3-9a0c-0305e82c3302',
    ])
  })

  test('may use anchors', () => {
    const { file, problems } = parseRegistryFile(`teams: [{ id: &owner payments }]
events: [{ identifier: e, team: *owner }]`)
    expect(problems).toEqual([])
    expect(file.events[0]).toMatchObject({ team: 'payments' })
  })
})

describe('the quota of a Team', () => {
  const limitsOf = (limits: string) => {
    const { file, problems } = parseRegistryFile(`teams:\n  - { id: a, limits: ${limits} }`)
    return problems.length > 0 ? problems.map(({ line, message }) => `${line}: ${message}`) : file.teams[0]?.limits
  }

  test('has each of its numbers or leaves it out; null and nothing at all take it away', () => {
    expect(limitsOf('{ shadow: false, burstSeconds: 60, bytesPerSecond: 5000, entriesPerSecond: 0 }')).toEqual({
      ...{ entriesPerSecond: 0, bytesPerSecond: 5_000, burstSeconds: 60, shadow: false },
    })
    expect(limitsOf('{ entriesPerSecond: 10 }')).toEqual({ entriesPerSecond: 10 })
    expect([limitsOf('null'), limitsOf('{}')]).toEqual([null, null])
    expect(parseRegistryFile('teams: [{ id: a }]').file.teams[0]?.limits).toBeUndefined()
  })

  test('is refused where it is none', () => {
    expect(limitsOf('500')).toEqual([
      '2: limits must be a map with the fields entriesPerSecond, bytesPerSecond, burstSeconds, shadow',
    ])
    expect(limitsOf('{ entriesPerSecond: -1, bytesPerSecond: 1.5, burstSeconds: 0, shadow: 1, perMinute: 7 }')).toEqual(
      [
        '2: limits has no field "perMinute"; it has entriesPerSecond, bytesPerSecond, burstSeconds, shadow',
        '2: entriesPerSecond must be a whole number from 0 to 1000000000',
        '2: bytesPerSecond must be a whole number from 0 to 1000000000000',
        '2: burstSeconds must be a whole number from 1 to 3600',
        '2: shadow must be true or false',
      ],
    )
  })
})

describe('what is wrong is listed, all of it, with its line', () => {
  test('in the order of the lines', () => {
    expect(
      problemsOf(`teams:
  - { id: pay/ments, colour: red, apiKeys: [73] }
  - name: Nameless
  - id: billing
    name: 7
    apiKeys: secret
event: []
events:
  - identifier: ''
    team: billing
  - order-placed
steps:
  - { identifier: s, team: billing, event: 3, order: 0 }
projects:
  - { id: checkout, team: billing, archived: yes }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301 }
`),
    ).toEqual([
      '2: a Team has no field "colour"; it has id, name, apiKeys, defaultProject, limits',
      '2: a key must be text of 1 to 256 visible ASCII characters without blanks; put a number in quotes',
      "2: id must be a Team's id: 1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit",
      '3: id is missing',
      '5: name must be text; put a number, true, false or null in quotes',
      '6: apiKeys must be a list; [] stands for a Team with no key',
      '7: the file has no field "event"; it has teams, events, steps, projects',
      '9: identifier is empty',
      '11: an Event must be a map with the fields identifier, team, name, archived',
      '13: event must be text; put a number, true, false or null in quotes',
      '13: order must be a whole number from 1 to 1000000',
      '15: archived must be true or false',
      '15: id must be a GUID, such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      '16: team is missing',
    ])
  })

  test('identifiers and names have 1 to 1,024 bytes of UTF-8', () => {
    const event = (text: string) => problemsOf(`events: [{ identifier: ${JSON.stringify(text)}, team: a }]`)
    expect(event('x'.repeat(1_024))).toEqual([])
    expect(event('é'.repeat(512))).toEqual([])
    expect(event('é'.repeat(513))).toEqual(['1: identifier has 1026 bytes; the most is 1024'])
    expect(event('x'.repeat(1_025))).toEqual(['1: identifier has 1025 bytes; the most is 1024'])
    expect(problemsOf(`teams: [{ id: a, name: ${'x'.repeat(1_025)} }]`)).toEqual([
      '1: name has 1025 bytes; the most is 1024',
    ])
  })

  test('identifiers are exact: blanks, capitals and other scripts are part of them', () => {
    const { file, problems } = parseRegistryFile(`events:
  - { identifier: " Order ", team: a }
  - { identifier: "order", team: a }
  - { identifier: "注文", team: a }`)
    expect(problems).toEqual([])
    expect(file.events.map(({ id }) => id)).toEqual([' Order ', 'order', '注文'])
  })

  test.each(['"a\\0b"', '"a\\nb"', '"\\e[31m"', '"\\ud800"'])('a terminal or a topic could not carry %s', (text) => {
    expect(problemsOf(`events: [{ identifier: ${text}, team: a }]`)).toHaveLength(1)
  })

  test('nothing is given twice', () => {
    expect(
      problemsOf(`teams:
  - { id: a, apiKeys: [key-one] }
  - { id: a, apiKeys: [key-two, key-two] }
  - { id: b, apiKeys: [key-one] }
events:
  - { identifier: e, team: a }
  - { identifier: e, team: a }
projects:
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: a }
  - { id: 3F2504E04F8911D39A0C0305E82C3301, team: a }
`),
    ).toEqual([
      '3: the Team "a" is given twice, first on line 2',
      '3: this key is given twice, first on line 3',
      '4: this key is given twice, first on line 2',
      '7: the Event or Step "e" is given twice, first on line 6',
      '10: the Project "3f2504e0-4f89-11d3-9a0c-0305e82c3301" is given twice, first on line 9',
    ])
  })

  test('Events and Steps share one namespace', () => {
    expect(problemsOf('events: [{ identifier: x, team: a }]\nsteps: [{ identifier: x, team: b }]')).toEqual([
      '2: the Event or Step "x" is given twice, first on line 1',
    ])
  })

  test.each(['', '# nothing but a comment', 'null', '---'])(
    'an empty file is a mistake, not an empty registry: %j',
    (text) => {
      expect(problemsOf(text)).toEqual(['null: the file is empty'])
    },
  )

  test('a file that is no YAML says where', () => {
    expect(problemsOf('teams:\n  - { id: a\n')).toEqual([expect.stringMatching(/^\d: the file is no valid YAML: /)])
    expect(problemsOf('teams: []\nteams: []')).toEqual(['2: the file is no valid YAML: Map keys must be unique'])
    expect(problemsOf('a: 1\n---\nb: 2')).toEqual(['2: a second document begins; the file must be one'])
    expect(problemsOf('[]')).toEqual(['1: the file must be a map with the fields teams, events, steps, projects'])
  })

  test('no problem shows a key', () => {
    const secret = 'sl_THE-SECRET-KEY-OF-THIS-TEST-0000'
    const files = [
      `teams: [{ id: a, apiKeys: [${secret}, ${secret}] }]`,
      `teams: [{ id: a, apiKeys: ${secret} }]`,
      `teams: [{ id: a, apiKeys: [${secret} ${secret}] }]`,
      `teams:\n - id: a\n   apiKeys: [${secret}\n   name: ${secret} }`,
      `teams:\n - id: a\n   apiKeys: "${secret}" ${secret}`,
      `teams: &${secret}`,
      `teams: *${secret}`,
      `teams: !${secret} x`,
      `%${secret}\n---\nteams:`,
    ]
    for (const text of files) {
      const problems = problemsOf(text)
      expect(problems.join()).not.toContain('THE-SECRET')
    }
  })

  test('an alias cannot make a small file large, nor hold itself', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `  - &l${i} [${Array(100)
          .fill(i === 0 ? 'x' : `*l${i - 1}`)
          .join(', ')}]`,
    )
    expect(problemsOf(`teams:\n${levels.join('\n')}`)).toEqual(['null: the file has more than 100 aliases'])
    const many = `teams: [{ id: a, apiKeys: &keys [${Array(3_000).fill('k').join(',')}] }, ${Array(1_000).fill('{ id: b, apiKeys: *keys }').join(',')}]`
    expect(problemsOf(many)).toEqual(['null: the file has more than 100 aliases'])
    expect(problemsOf('teams: &self [*self]').length).toBeGreaterThan(0)
  })

  test('a file of more than 16 MiB is not read', () => {
    const text = `teams: []\n#${'x'.repeat(16 * 1024 * 1024 - 11)}`
    expect(problemsOf(text)).toEqual([])
    expect(problemsOf(`${text}x`)).toEqual(['null: the file has more than 16 MiB; files are merged, so split it'])
  })

  test('any text gives a file or problems, and never throws', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .array(
          fc.constantFrom('teams:', 'events:', '\n', '  - ', '{', '}', '[', ']', 'id: a', 'team: a', '&x', '*x', ', '),
        )
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (each) => {
        const { file, problems } = parseRegistryFile(each)
        expect(problems.length > 0 || Object.values(file).every(Array.isArray)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})

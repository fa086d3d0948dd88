import { describe, expect, test } from 'vitest'
import { csvProblem, eventsProblem, linesProblem, metricsProblem, xmlProblem } from '../../../fuzz/oracle/streams.ts'

const BOM = '\ufeff'

describe('streams that are as they should be', () => {
  test('events, also where the stream was left', () => {
    expect(
      eventsProblem('retry: 1000\nid: a\n\n: still here\nid: b\nevent: entry\ndata: {"a":1}\n\nid: c\nda'),
    ).toBeUndefined()
  })
  test('lines', () => expect(linesProblem('{"a":1}\n[]\n')).toBeUndefined())
  test('CSV', () => {
    expect(csvProblem(`${BOM}id,eventId,message\r\na,-5,"b ""c"", d\r\ne"\r\nf,1,'=1+1\r\n`)).toBeUndefined()
  })
  test('a drawing', () => {
    expect(
      xmlProblem('<?xml version="1.0"?>\n<svg a="1"><g><path d="x"/></g><text>a &lt; b &#38; c</text></svg>\n'),
    ).toBeUndefined()
  })
  test('metrics', () => {
    expect(
      metricsProblem('# HELP a b\n# TYPE a counter\na 1\na{b="c",d="e\\"f"} 1.5e-7\nb +Inf\nc NaN\n'),
    ).toBeUndefined()
  })
})

describe('streams that must not be', () => {
  test.each([
    ['data that are no JSON', eventsProblem('data: {\n\n'), /no JSON/],
    ['a line break inside an event', eventsProblem('data: "a"\nb\n'), /no line of an event stream/],
    ['a line that is no JSON', linesProblem('{}\n{"a"\n'), /line 2/],
    ['lines that were cut', linesProblem('{}\n{}'), /has no end/],
    ['CSV without its mark', csvProblem('a\r\n'), /byte order mark/],
    ['a row with more cells', csvProblem(`${BOM}a,b\r\n1,2,3\r\n`), /3 cells/],
    ['a quotation mark that is not closed', csvProblem(`${BOM}a\r\n"b\r\n`), /breaks at/],
    ['a formula', csvProblem(`${BOM}a\r\n=1+1\r\n`), /formula/],
    ['a formula behind a blank', csvProblem(`${BOM}a\r\n" =1+1"\r\n`), /formula/],
    ['a formula in full width', csvProblem(`${BOM}a\r\n\uff1d1\r\n`), /formula/],
    ['a tag that is not closed', xmlProblem('<svg><g></svg>'), /closes svg/],
    ['an open drawing', xmlProblem('<svg>'), /does not close svg/],
    ['a sign that is not escaped', xmlProblem('<svg>a & b</svg>'), /no XML at/],
    ['a character that XML cannot hold', xmlProblem('<svg>\0</svg>'), /cannot hold/],
    ['half a character', xmlProblem('<svg>\ud800</svg>'), /cannot hold/],
    ['no metric', metricsProblem('a b\n'), /no line of metrics/],
  ])('%s', (_name, problem, expected) => {
    expect(problem).toMatch(expected)
  })
})

import { expect, test } from 'vitest'
import { replaceSection } from '../../../bench/sections.ts'

const DOCUMENT = '# Performance\n\nIntroduction.\n\n## One\n\nfirst\n\n### Part\n\nof one\n\n## Two\n\nsecond\n'

test('a section is replaced in its place, with its parts, and nothing else changes', () => {
  expect(replaceSection(DOCUMENT, 'One', 'new\n')).toBe(
    '# Performance\n\nIntroduction.\n\n## One\n\nnew\n\n## Two\n\nsecond\n',
  )
  expect(replaceSection(DOCUMENT, 'Two', '\nnew\n\n')).toBe(DOCUMENT.replace('second', 'new'))
})

test('a section that is not there yet is put at the end; one whose name only begins alike is another', () => {
  expect(replaceSection(DOCUMENT, 'On', 'x')).toBe(`${DOCUMENT}\n## On\n\nx\n`)
  expect(replaceSection('# Performance\n', 'One', 'x')).toBe('# Performance\n\n## One\n\nx\n')
})

test('writing the same again changes nothing', () => {
  const once = replaceSection(DOCUMENT, 'One', 'new')
  expect(replaceSection(once, 'One', 'new')).toBe(once)
})

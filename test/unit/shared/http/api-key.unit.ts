import { expect, test } from 'vitest'
import { presentedKey } from '../../../../shared/http/api-key.ts'

const KEY = 'sl_key,of-payments'

test.each([
  ['as it is', { 'x-api-key': KEY }, KEY],
  ['sent twice, which Node joins', { 'x-api-key': `${KEY}, ${KEY}` }, KEY],
  ['behind Bearer, in any case', { 'x-api-key': `bearer ${KEY}` }, KEY],
  ['twice, once behind Bearer', { 'x-seq-apikey': `${KEY}, Bearer  ${KEY}` }, KEY],
  ['two different ones, which are none', { 'x-api-key': `${KEY}, other` }, `${KEY}, other`],
  ['empty, and in another header', { 'x-api-key': '', authorization: `Bearer ${KEY}` }, KEY],
  ['in no header', {}, undefined],
])('a key %s', (_name, headers, key) => {
  expect(presentedKey(headers)).toBe(key)
})

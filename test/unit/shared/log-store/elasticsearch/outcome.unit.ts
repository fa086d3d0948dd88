import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type BulkItem,
  classifyItem,
  classifyRequest,
  type ErrorBody,
} from '../../../../../shared/log-store/elasticsearch/outcome.ts'

/** As Elasticsearch 9.5.3 gave them; `filter_path` had taken the rest away. */
const recorded = JSON.parse(readFileSync(new URL('recorded-answers.json', import.meta.url), 'utf8')) as {
  readonly items: Readonly<Record<string, BulkItem>>
  readonly requests: Readonly<Record<string, { readonly status: number; readonly error: ErrorBody }>>
}
const item = (name: string): BulkItem => recorded.items[name] as BulkItem

describe('an item of a bulk answer', () => {
  test('that was created is stored; a conflict is a duplicate, and so is a deletion of nothing', () => {
    expect(classifyItem(item('created'))).toEqual({ verdict: 'stored' })
    expect(classifyItem({ status: 200 })).toEqual({ verdict: 'stored' })
    expect(classifyItem(item('conflict'))).toEqual({ verdict: 'duplicate' })
    expect(classifyItem(item('nothing to delete'))).toEqual({ verdict: 'duplicate' })
  })

  test.each(['overload', 'shard without a primary'])('%s: the document is tried again', (name) => {
    expect(classifyItem(item(name))).toMatchObject({ verdict: 'retry', blocked: false })
  })

  test.each([429, 500, 502, 503, 504])('status %i without more: the document is tried again', (status) => {
    expect(classifyItem({ status })).toMatchObject({ verdict: 'retry', blocked: false })
  })

  test('a tripped circuit breaker is retried whatever its status', () => {
    const error = { type: 'circuit_breaking_exception' }
    expect(classifyItem({ status: 400, error })).toMatchObject({ verdict: 'retry', blocked: false })
  })

  test.each(['full disk', 'write block', 'closed index', 'no shards left'])(
    '%s: the document is tried again, and an operator has to act',
    (name) => {
      expect(classifyItem(item(name))).toMatchObject({ verdict: 'retry', blocked: true })
    },
  )

  test.each([
    ["Number of documents in the index can't exceed [2147483519]"],
    ['pipeline with id [theirs] does not exist'],
    ['no write index is defined for alias [x]. The write index may be explicitly disabled'],
  ])('%s: no fault of the document either', (reason) => {
    const error = { type: 'illegal_argument_exception', reason }
    expect(classifyItem({ status: 400, error })).toMatchObject({ verdict: 'retry', blocked: true })
  })

  test('in an index that its write made without a template waits; a document that quotes the same words is refused', () => {
    const reason = "[1:9] Can't find dynamic template for dynamic template name [sluice] of field [team]"
    const error = { type: 'document_parsing_exception', reason }
    const waits = {
      verdict: 'retry',
      blocked: true,
      reason: 'document_parsing_exception (an index without its template: run `sluice indices apply`)',
    }
    expect(classifyItem({ status: 400, error })).toEqual(waits)
    const quoted = { ...error, reason: `[1:9] failed to parse field [timestamp]: '${reason}'` }
    expect(classifyItem({ status: 400, error: quoted })).toMatchObject({ verdict: 'refused' })
  })

  test.each([
    [
      'strict_dynamic_mapping_exception',
      '[1:6] mapping set to strict, dynamic introduction of [writtenAt] within [_doc] is not allowed',
    ],
    [
      'document_parsing_exception',
      '[1:6] failed to parse: Limit of total fields [5] has been exceeded while adding new fields [2]',
    ],
  ])('%s: in an index whose mapping was changed by hand waits', (type, reason) => {
    const waits = { verdict: 'retry', blocked: true, reason: `${type} (a mapping changed by hand)` }
    expect(classifyItem({ status: 400, error: { type, reason } })).toEqual(waits)
  })

  test('that meets a block names the index and the block, and nothing else of the reason', () => {
    expect(classifyItem(item('write block'))).toMatchObject({
      reason: 'cluster_block_exception (x-a: index write (api))',
    })
    const closed = { type: 'index_closed_exception', reason: 'closed', index: 'x-a' }
    expect(classifyItem({ status: 400, error: closed })).toMatchObject({ reason: 'index_closed_exception (x-a)' })
    const { reason } = item('write block').error ?? {}
    const quoted = { type: 'cluster_block_exception', reason: `cannot be parsed: ${reason}` }
    expect(classifyItem({ status: 403, error: quoted })).toMatchObject({ reason: 'cluster_block_exception' })
  })

  test.each(['no auto-create', 'missing privilege'])('%s: nothing can be written until somebody acts', (name) => {
    expect(classifyItem(item(name))).toMatchObject({ verdict: 'halt' })
  })

  test('whose index was removed meanwhile is told from others, as its name may stand for another index', () => {
    const error = { type: 'index_not_found_exception', reason: 'no such index [x-a]' }
    expect(classifyItem({ status: 404, error })).toEqual({ verdict: 'gone', reason: '404 index_not_found_exception' })
  })

  test.each([
    ['document that cannot be parsed', 'Elasticsearch answered 400 document_parsing_exception for the field timestamp'],
    ['object in a keyword', 'Elasticsearch answered 400 document_parsing_exception for the field id'],
    ['body that is no JSON', 'Elasticsearch answered 400 document_parsing_exception'],
  ])('%s: refused, with a reason that quotes nothing of it', (name, reason) => {
    expect(classifyItem(item(name))).toEqual({ verdict: 'refused', reason })
  })

  test('that a pipeline dropped waits until somebody acts', () => {
    const waits = { verdict: 'retry', blocked: true, reason: 'a pipeline dropped the document' }
    expect(classifyItem({ status: 200, result: 'noop' })).toEqual(waits)
  })

  test('that went to a failure store is not stored', () => {
    expect(classifyItem({ status: 201, failure_store: 'used' })).toMatchObject({ verdict: 'refused' })
    expect(classifyItem({ status: 201, failure_store: 'not_enabled' })).toEqual({ verdict: 'stored' })
  })
})

describe('a bulk request that failed', () => {
  test.each([
    ['id too long', 'split'],
    ['too large', 'split'],
    ['breaker', 'retry'],
    ['overload', 'retry'],
    ['malformed request', 'halt'],
  ])('%s: %s', (name, verdict) => {
    const { status, error } = recorded.requests[name] as { status: number; error: ErrorBody }
    expect(classifyRequest(status, error, 2)).toMatchObject({ verdict })
  })

  test('as too large for a proxy with one document is repeated, and an operator has to act', () => {
    const waits = { verdict: 'retry', blocked: true, reason: '413 for one document' }
    expect(classifyRequest(413, {}, 1)).toEqual(waits)
    expect(classifyRequest(413, {})).toEqual(waits)
  })

  test.each(['read-only cluster', 'wrong password', 'right key after a restart'])(
    '%s: it is repeated, and an operator may have to act',
    (name) => {
      const { status, error } = recorded.requests[name] as { status: number; error: ErrorBody }
      expect(classifyRequest(status, error)).toMatchObject({ verdict: 'retry', blocked: true })
    },
  )

  test('as a lookup by an alias of several indices is repeated, and an operator has to act', () => {
    const reason = "alias [x] has more than one index associated with it [x-1, x-2], can't execute a single index op"
    const waits = {
      verdict: 'retry',
      blocked: true,
      reason: '503 illegal_argument_exception (an alias of several indices)',
    }
    expect(classifyRequest(503, { type: 'illegal_argument_exception', reason })).toEqual(waits)
  })

  test('by a cluster that has no master, as at its start, is repeated, and nobody has to act', () => {
    const { status, error } = recorded.requests['cluster without a master'] as { status: number; error: ErrorBody }
    expect(classifyRequest(status, error)).toMatchObject({ verdict: 'retry', blocked: false })
    expect(classifyItem({ status, error })).toMatchObject({ verdict: 'retry', blocked: false })
  })

  test.each([null, 408, 429, 500, 502, 503, 504])('with status %p is repeated', (status) => {
    expect(classifyRequest(status, undefined)).toMatchObject({ verdict: 'retry', blocked: false })
  })

  test.each([400, 403, 404, 405])('with status %i halts', (status) => {
    expect(classifyRequest(status, { type: 'security_exception' })).toMatchObject({ verdict: 'halt' })
  })

  test.each([400, 403, 404, 405])('with status %i of something in between is repeated', (status) => {
    expect(classifyRequest(status, {})).toMatchObject({ verdict: 'retry', blocked: true })
  })

  test.each([401, 403, 408, 429, 502, 503])('with status %i of something in between says where to look', (status) => {
    const reason = `${status} without an error of Elasticsearch (check ELASTICSEARCH_URL, and any proxy there)`
    expect(classifyRequest(status, {}, 2)).toMatchObject({ verdict: 'retry', reason })
  })
})

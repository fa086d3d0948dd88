import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeEventLog } from '../../consumers/decode.ts'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import { CLOUD_EVENTS } from '../../shared/contract/headers.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { SETTINGS } from '../../shared/runtime/config-schema.ts'
import { readRecord, recordHeaders } from '../support/consumers-records.ts'
import { publishedSchemas } from '../support/contract-docs.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const page = readFileSync(join(DOCS, 'topics.md'), 'utf8')
const DAY_MS = 86_400_000

describe('the page for subscribers', () => {
  test.each(Object.values(TOPICS))('says how $role is partitioned and how long it is kept', (topic) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${topicName('sluice', topic.role)}\` |`))
    const [partitions, kept] = (row ?? '')
      .split('|')
      .map((cell) => cell.trim())
      .slice(-3, -1)
    expect(partitions).toBe(String(topic.partitions))
    const days = (topic.retentionMs ?? 0) / DAY_MS
    expect(kept).toBe(topic.retentionMs === null ? 'the last value of each key' : `${days} day${days === 1 ? '' : 's'}`)
  })

  test('names every header, type and schema of an entry', () => {
    const facts = { id: '', subject: '', time: '', key: '', originalKey: '', traceparent: '' }
    const names = Object.keys(recordHeaders({ kind: 'event', ...facts }))
    const kinds = Object.values(CLOUD_EVENTS).flatMap(({ type, dataSchema }) => [type, dataSchema])
    expect([...names, ...kinds].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('names every field of an entry', () => {
    const fields = ['event-log', 'application-log'].flatMap((name) =>
      Object.keys(publishedSchemas[`${name}-record.v1.json`]?.['properties'] as object),
    )
    expect(fields.filter((field) => !page.includes(`\`${field}\``) && !page.includes(`"${field}":`))).toEqual([])
  })

  test("names Sluice's own groups, and the limits as they are by default", () => {
    expect(
      PROJECTION_NAMES.map((view) => groupName('sluice', view)).filter((group) => !page.includes(`\`${group}\``)),
    ).toEqual([])
    for (const name of ['MAX_ENTRY_BYTES', 'HOT_KEY_ENTRIES_PER_SECOND'] as const) {
      expect(page).toContain(`\`${name}\` (${SETTINGS[name].default.toLocaleString('en')})`)
    }
  })

  test('shows a record that the views take', () => {
    const [, json = ''] = /```json\n(.*?)```/s.exec(page) ?? []
    expect(decodeEventLog(readRecord(json))).toMatchObject({ outcome: 'decoded' })
  })

  test('links to files that are there', () => {
    const links = [...page.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(3)
    expect(links.filter((link) => !existsSync(join(DOCS, link)))).toEqual([])
  })
})

import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import type { FlowDelta } from '../../shared/contract/documents.ts'
import { flowsOf } from '../contract/log-store-rig.ts'
import { describeWithBackends } from '../support/backends.ts'
import { createAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { runSluice, temporaryFolder } from '../support/sluice-process.ts'
import {
  type Access,
  documentOf,
  EVERYTHING,
  never,
  openStore,
  storedIds,
  TEAM,
  uniquePrefix,
} from './elasticsearch-support.ts'

const USER = { username: 'elastic', password: 'a-password-of-elastic' }
const authority = createAuthority('the authority of Elasticsearch')
const stranger = createAuthority('another authority')
const server = authority.issue('elasticsearch', ['127.0.0.1'])

/** The table of privileges in docs/elasticsearch.md. */
const RUNS = {
  cluster: ['monitor'],
  indices: [
    'read',
    'write',
    'create_index',
    'auto_configure',
    'view_index_metadata',
    'monitor',
    'maintenance',
    'delete_index',
  ],
}
const APPLIES = { cluster: [...RUNS.cluster, 'manage_index_templates'], indices: [...RUNS.indices, 'manage'] }

await describeWithBackends(
  'an Elasticsearch that speaks HTTPS and asks who one is',
  { elasticsearch: { secured: { password: USER.password, ...server } } },
  ({ elasticsearch: { url } }) => {
    const folder = temporaryFolder()
    afterAll(folder.remove)
    const fileOf = (name: string, content: string): string => {
      const path = join(folder.path, name)
      writeFileSync(path, content)
      return path
    }
    const caFile = fileOf('authority.pem', authority.certificate)
    const basic: Access = { auth: { type: 'basic', ...USER }, caFile }

    /** An API key with no more than these privileges on the indices of a prefix. */
    const accessWith = async (prefix: string, { cluster, indices }: typeof RUNS): Promise<Access> => {
      const roles = { sluice: { cluster, indices: [{ names: [`${prefix}-*`], privileges: indices }] } }
      const sent = request(`${url}/_security/api_key`, {
        method: 'POST',
        ca: authority.certificate,
        auth: `${USER.username}:${USER.password}`,
        headers: { 'content-type': 'application/json' },
      })
      sent.end(JSON.stringify({ name: prefix, role_descriptors: roles }))
      const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
        sent.on('response', resolve).on('error', reject),
      )
      const { encoded } = JSON.parse(await text(answer)) as { encoded: string }
      return { auth: { type: 'apiKey', apiKey: encoded }, caFile }
    }
    const open = (prefix: string, access: Access) => openStore(url, prefix, {}, access).store

    test('a user with a password makes the indices, writes and reads', async () => {
      const prefix = uniquePrefix()
      const store = open(prefix, basic)
      await store.indices.apply()
      expect(await store.write([documentOf(1)], never)).toEqual([{ outcome: 'stored' }])
      await eventually(async () => expect(await storedIds(store)).toEqual([documentOf(1).id]))
      expect(await store.health()).toMatchObject({ ready: true })
      await store.close()
    })

    test('an API key with the privileges that are documented does all that a server does, and no more', async () => {
      const prefix = uniquePrefix()
      const operator = open(prefix, await accessWith(prefix, APPLIES))
      await operator.indices.apply()
      const store = open(prefix, await accessWith(prefix, RUNS))
      expect(await store.indices.check()).toEqual([])
      const [old, late] = [documentOf(1, { receivedAt: '2026-01-01T10:00:00.000Z' }), documentOf(2)]
      const delta: FlowDelta = {
        ...{
          team: TEAM,
          correlationKey: 'flow-2',
          worstLevel: 'Debug',
          lastErrorAt: null,
          lastProgressAt: null,
          firstAt: late.timestamp,
          lastAt: late.timestamp,
        },
        ...{
          days: [late.receivedAt.slice(0, 10)],
          lastReceivedAt: late.receivedAt,
          environments: [],
          events: [],
          steps: [],
          projects: [],
        },
      }
      await store.write([old, late], never)
      await store.mergeFlows([delta], never)
      await eventually(async () => expect(await storedIds(store)).toHaveLength(2))
      const { cursor } = await store.tail(EVERYTHING, null, 10)
      await store.write([documentOf(3)], never)
      const { entries } = await store.tail(EVERYTHING, cursor, 10)
      expect(entries.map(({ entry }) => entry.id)).toEqual([documentOf(3).id])
      expect((await store.facets(EVERYTHING, 5)).level).toBeDefined()
      expect((await store.histogram(EVERYTHING, 10)).total).toBe(3)
      expect(await store.removeBefore('2026-01-30')).toBe(1)
      await eventually(async () => expect(await store.flow(TEAM, 'flow-2')).toMatchObject({ correlationKey: 'flow-2' }))
      expect(await store.health()).toMatchObject({ ready: true })
      // Nothing of another prefix: neither read nor made.
      const beside = open(uniquePrefix(), await accessWith(prefix, APPLIES))
      await expect(beside.write([documentOf(1)], never)).rejects.toThrow(/403 security_exception|is missing/)
      await Promise.all([operator, store, beside].map((each) => each.close()))
    })

    test('a login that may not see the indices is told so, and finds not just nothing', async () => {
      const prefix = uniquePrefix()
      const operator = open(prefix, basic)
      await operator.indices.apply()
      const outsider = open(prefix, await accessWith(uniquePrefix(), RUNS))
      const page = { limit: 1, order: 'asc', after: null } as const
      const flows = { limit: 1, sort: 'latest', after: null } as const
      const reads = [
        outsider.search(EVERYTHING, page),
        outsider.count(EVERYTHING),
        outsider.tail(EVERYTHING, null, 1),
        outsider.searchFlows(flowsOf(TEAM), flows),
      ]
      for (const { status, reason } of (await Promise.allSettled(reads)) as PromiseRejectedResult[])
        expect([status, String(reason)]).toEqual(['rejected', expect.stringContaining('check what the login may read')])
      await Promise.all([operator, outsider].map((each) => each.close()))
    })

    test('a login that may see the indices but not read them is never ready, and is told what it lacks', async () => {
      const prefix = uniquePrefix()
      const operator = open(prefix, basic)
      await operator.indices.apply()
      const blind = { ...RUNS, indices: RUNS.indices.filter((privilege) => privilege !== 'read') }
      const store = open(prefix, await accessWith(prefix, blind))
      const unready = { ready: false, reason: expect.stringMatching(/403 security_exception .*privileges/) }
      expect([await store.health(), await store.health()]).toMatchObject([unready, unready])
      await Promise.all([operator, store].map((each) => each.close()))
    })

    const refusals: readonly (readonly [string, Access, RegExp])[] = [
      [
        'a wrong password',
        { ...basic, auth: { type: 'basic', ...USER, password: 'no' } },
        /answered 401 security_exception \(check ELASTICSEARCH_API_KEY, or .*ELASTICSEARCH_PASSWORD\)$/,
      ],
      ['no login', { ...basic, auth: { type: 'none' } }, /answered 401 security_exception \(check/],
      ['a wrong API key', { ...basic, auth: { type: 'apiKey', apiKey: btoa('id:key') } }, /answered 401 .*\(check/],
      [
        'another authority',
        { ...basic, caFile: fileOf('stranger.pem', stranger.certificate) },
        /verify the first certificate.*ELASTICSEARCH_CA_FILE has to name/,
      ],
      ["Node's authorities", { ...basic, caFile: null }, /verify the first certificate.*ELASTICSEARCH_CA_FILE/],
    ]
    test.each(refusals)('%s is refused, and what to do is said', async (_, access, reason) => {
      const store = open(uniquePrefix(), access)
      await expect(store.indices.apply()).rejects.toThrow(reason)
      await expect(store.search(EVERYTHING, { limit: 1, order: 'asc', after: null })).rejects.toThrow()
      expect(await store.health()).toMatchObject({ ready: false })
      await store.close()
    })

    test('a file that is no certificate, or none at all, is named', () => {
      const noPem = { ...basic, caFile: fileOf('text.pem', 'no certificate') }
      expect(() => open('any', noPem)).toThrow('ELASTICSEARCH_CA_FILE cannot be read')
      expect(() => open('any', { ...basic, caFile: '/nowhere' })).toThrow('ELASTICSEARCH_CA_FILE cannot be read')
    })

    describe('the program', () => {
      const settings = {
        ELASTICSEARCH_URL: url,
        ELASTICSEARCH_CA_FILE: caFile,
        ELASTICSEARCH_USERNAME: USER.username,
        ELASTICSEARCH_PASSWORD_FILE: fileOf('password', USER.password),
        INDEX_PREFIX: uniquePrefix(),
        DATA_DIR: join(folder.path, 'data'),
      }

      test('connects by its settings, and Node warns of nothing', async () => {
        expect(await runSluice(['indices', 'apply'], settings)).toMatchObject({ code: 0, stderr: '' })
      })

      test.each([
        ['a wrong password', { ELASTICSEARCH_PASSWORD_FILE: fileOf('wrong', 'no') }, /\(check ELASTICSEARCH_API_KEY/],
        [
          'another authority',
          { ELASTICSEARCH_CA_FILE: fileOf('other.pem', stranger.certificate) },
          /ELASTICSEARCH_CA_FILE/,
        ],
        ['no such file', { ELASTICSEARCH_CA_FILE: '/nowhere' }, /ELASTICSEARCH_CA_FILE cannot be read: ENOENT/],
      ])('%s ends with one line that says so', async (_, changes, line) => {
        const { code, stdout, stderr } = await runSluice(['indices', 'apply'], { ...settings, ...changes })
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr.trim()).toMatch(line)
        expect(stderr.trim().split('\n')).toHaveLength(1)
      })
    })
  },
)

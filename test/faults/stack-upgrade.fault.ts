import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBackends } from '../support/backends.ts'
import { FAULT_SCALE } from '../support/eventually.ts'
import { type FullStack, type Part, startFullStack } from '../support/full-stack.ts'
import { prove, storedOf } from '../support/full-stack-ledger.ts'
import { TURN } from '../support/load.ts'
import type { StartOptions } from '../support/sluice-process.ts'
import { temporaryFolder } from '../support/sluice-process.ts'
import { notProved } from '../support/toolchains.ts'

const PATIENCE_MS = 300_000 * FAULT_SCALE
const ROOT = join(import.meta.dirname, '../..')
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024
const SETTINGS = {}
const THIS: StartOptions = {}

/**
 * A checkout of the last release before this commit, from this checkout's history, with today's packages. Undefined if that history is
 * missing, as in a shallow clone or an archive.
 */
function checkOutLastRelease() {
  const release = readLastRelease()
  if (release === undefined) return undefined
  const { path: folder, remove } = temporaryFolder()
  execFileSync('tar', ['-x', '-C', folder], { input: release.archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, ['views/web/build.js'], { cwd: folder })
  return { version: release.version, folder, remove }
}

/** The commit that wrote a version into package.json; in a shallow clone the oldest commit would match wrongly. */
function readLastRelease(): { readonly version: string; readonly archive: Buffer } | undefined {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, { cwd: ROOT, maxBuffer: ARCHIVE_BYTES_MAX, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    if (String(git('rev-parse', '--is-shallow-repository')).trim() === 'true') return undefined
    const commit = String(git('log', '--format=%H', '-1', '-G"version": "', 'HEAD~1', '--', 'package.json')).trim()
    const { version } = JSON.parse(String(git('show', `${commit}:package.json`))) as { version: string }
    return { version, archive: git('archive', commit) }
  } catch {
    return undefined
  }
}

const release = checkOutLastRelease()

/** Ends the process of a part as a rollout does, and starts it from another checkout. */
async function replace(part: Part, by: StartOptions): Promise<void> {
  expect(await part.end('SIGTERM')).toBe(0)
  await part.start(SETTINGS, by)
}

if (release === undefined) notProved('upgrades', 'the history of the last release is not here', false)
else {
  const { folder, remove, version } = release
  const last: StartOptions = { root: folder }

  await describeWithBackends(
    `from ${version} to this program and back, full stack`,
    { kafka: 'shared', elasticsearch: 'shared' },
    ({ kafka, elasticsearch }) => {
      let stack: FullStack
      beforeAll(async () => {
        stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url, start: last })
      }, PATIENCE_MS)
      afterAll(async () => {
        await stack?.stop()
        remove()
      }, 60_000)

      test(
        'consumers, views and gateways are upgraded one after the other, and each pairing works under load',
        async () => {
          await prove(stack, 'last release', async () => {})
          await prove(stack, 'consumers upgraded', () => replace(stack.consumers, THIS))
          await prove(stack, 'views upgraded', () => replace(stack.views, THIS))
          await prove(stack, 'both gateways', async (load) => {
            const another = await stack.startAnother('gateway', SETTINGS, THIS)
            await load.answeredMore(300)
            await replace(stack.gateway, THIS)
            another.kill('SIGTERM')
            expect(await another.exited).toBe(0)
          })
          await expectAll(['last-release', 'consumers-upgraded', 'views-upgraded', 'both-gateways'])
        },
        PATIENCE_MS,
      )

      test(
        'the same way back, with what this program has written',
        async () => {
          await prove(stack, 'gateways rolled back', () => replace(stack.gateway, last))
          await prove(stack, 'views rolled back', () => replace(stack.views, last))
          await prove(stack, 'consumers rolled back', () => replace(stack.consumers, last))
          await expectAll(['both-gateways', 'consumers-rolled-back'])
        },
        PATIENCE_MS,
      )

      test(
        'gateways first: consumers of the last release read what this program publishes',
        async () => {
          await prove(stack, 'gateways upgraded first', () => replace(stack.gateway, THIS))
          await prove(stack, 'consumers upgraded last', () => replace(stack.consumers, THIS))
        },
        PATIENCE_MS,
      )

      /** Entries that were stored in one pairing are shown in the next ones. */
      async function expectAll(environments: readonly string[]): Promise<void> {
        for (const environment of environments)
          expect((await storedOf(stack, environment)).length).toBeGreaterThanOrEqual(2 * TURN)
      }
    },
  )
}

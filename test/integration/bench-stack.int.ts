import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeWithBackends } from '../support/backends.ts'

const run = promisify(execFile)
const MAIN = join(import.meta.dirname, '../../bench/stack/main.ts')

await describeWithBackends('the bench on a real broker', { kafka: 'shared' }, ({ kafka }) => {
  test('counts in the topic what it has acknowledged, for the gateway and for the floor', async () => {
    const [broker = ''] = kafka.brokers
    const args = ['--disable-warning=ExperimentalWarning', MAIN, 'gateway', '--quick', '--broker', broker]
    // It ends with an error where a count is wrong.
    const { stdout } = await run(process.execPath, args)
    const rows = stdout.split('\n').filter((line) => /^\| (single|batch of 100) \| (floor|Sluice) \|/.test(line))
    expect(rows).toHaveLength(4)
    for (const row of rows) {
      const [failed, inTopic, acknowledged] = row
        .split('|')
        .map((cell) => cell.trim())
        .slice(0, -1)
        .reverse()
      expect(acknowledged).toMatch(/^[1-9]/)
      expect([inTopic, failed]).toEqual([acknowledged, '0'])
    }
  }, 360_000)
})

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startBare } from '../../../support/raw-http.ts'

const CLIENT = join(import.meta.dirname, '../../../../clients/typescript/src/index.ts')

let messages: string[]
let answers: boolean
let server: Awaited<ReturnType<typeof startBare>>

beforeEach(async () => {
  messages = []
  answers = true
  server = await startBare((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      if (!answers) return
      messages.push(...JSON.parse(body).logEntries.map(({ message }: { message: string }) => message))
      response.end('{"success":true,"data":{}}')
    })
  })
})

afterEach(() => server.close())

/** Runs a program that has a `client` and `log`, to its own end; gives what it printed. */
async function runProgram(code: string, closeTimeoutMs = 30_000): Promise<string> {
  const program = `
import { createClient } from '${CLIENT}'
const client = createClient({
  url: 'http://127.0.0.1:${server.port}', apiKey: 'key', closeTimeoutMs: ${closeTimeoutMs}, maxDelayMs: 600_000,
  onDropped: ({ count, reason }) => console.log('dropped', count, reason),
})
const log = (message) => client.log({ categoryName: 'c', message, level: 'Error' })
${code}`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return stdout.trim()
}

describe("Node's end", () => {
  test('what waits is sent when there is nothing left to do', async () => {
    expect(await runProgram(`log('one')`)).toBe('')
    expect(messages).toEqual(['one'])
  })

  test('what others log when the process is idle goes along, and does not keep it alive', async () => {
    const printed = await runProgram(`process.on('beforeExit', () => log('idle')); log('one')`)
    expect(messages).toEqual(['one', 'idle'])
    expect(printed).toBe('dropped 1 closed')
  })

  test('a server that does not answer does not keep it alive for long, and the loss is told', async () => {
    answers = false
    expect(await runProgram(`log('one'); log('two')`, 100)).toBe('dropped 2 closed')
  })

  test('process.exit loses what waits, and tells so', async () => {
    expect(await runProgram(`log('one'); process.exit(0)`)).toBe('dropped 1 closed')
    expect(messages).toEqual([])
  })

  test('a program that waits for its flush ends after it', async () => {
    expect(await runProgram(`log('one'); await client.flush(); console.log(client.stats().stored)`)).toBe('1')
  })

  test('an open client alone keeps no program alive', async () => {
    expect(await runProgram(`console.log('done')`)).toBe('done')
  })
})

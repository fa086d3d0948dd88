import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'

/** The arguments of each call of `curl`. */
export type CurlCalls = readonly (readonly string[])[]

/** A stand-in for `curl` that prints the number of its arguments, and then the arguments. */
const CURL = `curl() { printf '%s\\0' "$#" "$@"`

const environment = () => ({ PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TERM: 'xterm' })

/** The arguments of `curl` when bash runs these commands as a script. */
export const scripted = (...commands: readonly string[]): CurlCalls =>
  callsIn(execFileSync('bash', ['--norc', '-c', [`${CURL}; }`, ...commands].join('\n')], { env: environment() }))

/**
 * The arguments of `curl` when the command is pasted into an interactive bash in a terminal; `bracketed` for terminals that mark pasted
 * text. Fails if bash creates any other file in its folder.
 */
export async function pasted(command: string, bracketed: boolean): Promise<CurlCalls> {
  const folder = mkdtempSync(join(tmpdir(), 'shell-'))
  const [calls, start] = [join(folder, 'calls'), join(folder, 'start')]
  writeFileSync(calls, '')
  writeFileSync(start, `PS1='ready> '; unset HISTFILE\n${CURL} >> ${calls}; }\n`)
  const child = spawn('script', ['-qec', `bash --rcfile ${start} -i`, '/dev/null'], { cwd: folder, env: environment() })
  let screen = ''
  child.stdout.on('data', (data) => {
    screen += data
  })
  const prompts = (): number => screen.split('ready> ').length - 1
  await eventually(() => prompts() > 0)
  // For each line break, a terminal sends the code of Enter.
  const typed = command.replaceAll('\n', '\r')
  child.stdin.write(bracketed ? `\x1b[200~${typed}\x1b[201~\r` : `${typed}\r`)
  await eventually(() => prompts() > 1 && readFileSync(calls).length > 0)
  child.stdin.write('exit\r')
  await once(child, 'exit')
  const made = readdirSync(folder).filter((name) => !['calls', 'start'].includes(name))
  const received = callsIn(readFileSync(calls))
  rmSync(folder, { recursive: true })
  if (made.length > 0) throw new Error(`the command made ${made}`)
  return received
}

function callsIn(noted: Buffer): CurlCalls {
  const words = noted.toString().split('\0').slice(0, -1)
  const calls: string[][] = []
  while (words.length > 0) calls.push(words.splice(0, Number(words.shift())))
  return calls
}

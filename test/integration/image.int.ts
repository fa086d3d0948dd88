import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../stack/ports.ts'
import { createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { buildImage, describeWithDocker, docker, run, uniqueName } from './image-support.ts'

/** As strict as a cluster may be: nothing but the volume can be written, and no privilege is left. */
const LOCKED_DOWN = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']
const STARTUP_MS = 60_000

describeWithDocker('the image', [], () => {
  const name = uniqueName()
  let port = 0

  beforeAll(async () => {
    ;[port = 0] = await freePorts(1)
    await buildImage(name)
  }, 180_000)

  afterAll(async () => {
    const containers = (await docker('ps', '--all', '--quiet', '--filter', `ancestor=${name}`)).split('\n')
    await docker('rm', '--force', '--volumes', ...containers).catch(() => undefined)
    await docker('volume', 'rm', '--force', name).catch(() => undefined)
    await docker('image', 'rm', name).catch(() => undefined)
  }, 60_000)

  const start = (...more: readonly string[]): Promise<string> =>
    docker('run', '--detach', ...LOCKED_DOWN, '--env', 'LOG_LEVEL=warn', ...more)

  const field = async (container: string, format: string): Promise<string> =>
    docker('inspect', '--format', format, container)

  const ready = (): Promise<unknown> =>
    eventually(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, STARTUP_MS)

  test('embedded, without root and on a read-only file system, it shows what it answered, after a restart as well', async () => {
    const container = await start(
      ...['--publish', `127.0.0.1:${port}:8080`, '--volume', `${name}:/data`],
      ...['--health-interval', '1s', name],
    )
    await ready()
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="app">')])
    const key = /shown this once: (\S+)/.exec(await docker('logs', container))?.[1] ?? ''
    const client = createClient(`http://127.0.0.1:${port}`, key)
    const entry = { uniqueIdentifier: 'order-placed', payload: 'kept in a container', level: 'Information' }
    const { data } = await client.post('/api/ExternalLogs', entry)
    expect(data['id']).toEqual(expect.any(String))
    const shown = async () => (await client.all('/api/event-logs')).map(({ id, payload }) => ({ id, payload }))
    const once = [{ id: data['id'], payload: entry.payload }]
    await eventually(async () => expect(await shown()).toEqual(once))

    expect(await docker('exec', container, 'id', '-u')).toBe('1000')
    await expect(docker('exec', container, 'sh', '-c', 'echo > /app/written')).rejects.toThrow('Read-only file system')

    await docker('restart', container)
    await ready()
    await eventually(async () => expect(await shown()).toEqual(once))
    await eventually(async () => (await field(container, '{{.State.Health.Status}}')) === 'healthy', STARTUP_MS)
    expect(await docker('exec', container, 'sluice', 'registry', 'list')).toContain('order-placed')

    await docker('stop', '--time', '30', container)
    expect(await field(container, '{{.State.ExitCode}}')).toBe('0')
  }, 150_000)

  test('SIGTERM ends it also while it waits for its servers', async () => {
    // An address that answers nothing (RFC 5737), so that the start cannot get anywhere.
    const container = await start('--env', 'KAFKA_BROKERS=192.0.2.1:9092', name, 'start', '--role', 'gateway')
    await eventually(async () => {
      await docker('kill', '--signal', 'TERM', container).catch(() => undefined)
      return (await field(container, '{{.State.Running}}')) === 'false'
    }, STARTUP_MS)
    expect(await field(container, '{{.State.ExitCode}}')).toBe('130')
  }, 90_000)

  test('it runs the commands of the operator', async () => {
    const { stdout } = await run('docker', ['run', '--rm', ...LOCKED_DOWN, name, 'config', 'print'])
    expect(stdout).toMatch(/HOST\b.*0\.0\.0\.0/)
    expect(stdout).toMatch(/DATA_DIR\b.*\/data/)
  }, 60_000)

  test('it holds what runs and nothing else', async () => {
    const list = async (folder: string): Promise<readonly string[]> =>
      (await docker('run', '--rm', '--entrypoint', 'ls', name, folder)).split('\n')
    expect(await list('/app')).toEqual([
      ...['LICENSE', 'consumers', 'deploy', 'gateway', 'node_modules', 'package.json', 'shared', 'sluice.js', 'views'],
    ])
    expect(await list('/app/views/web')).toEqual(['dist'])
    const packages = await list('/app/node_modules')
    expect(packages).toContain('express')
    expect(
      packages.filter((each) => ['vitest', 'node', 'typescript', 'testcontainers', 'preact', 'vite'].includes(each)),
    ).toEqual([])
  }, 60_000)
})

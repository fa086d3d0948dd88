import { type LoadResult, runLoad } from '../load.ts'
import type { Program, RunningProgram, Workload } from './programs.ts'
import type { Server } from './servers.ts'
import type { Topics } from './topics.ts'

/** The cost of one run of a program at the maximum load of its connections. */
export interface Saturation {
  readonly program: string
  readonly workload: string
  readonly entriesPerSecond: number
  readonly entriesPerCpuSecond: number
  readonly brokerMsPerThousand: number
  /** Null if the program does not count its produce requests. */
  readonly entriesPerSend: number | null
  readonly peakMiB: number
  readonly counts: Counts
}

/** Entry counts over the process's whole lifetime. */
export interface Counts {
  readonly acknowledged: number
  readonly inTopic: number
  readonly topicBytes: number
  readonly failed: number
}

/** Latency at a fixed offered rate. */
export interface Steady {
  readonly program: string
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMsPerRequest: number
  readonly counts: Counts
}

export interface GatewayRig {
  readonly broker: Server
  readonly topics: Topics
  readonly seconds: number
  readonly warmUpSeconds: number
}

type LoadOf = (workload: Workload, options: { readonly seconds: number; readonly rate?: number }) => Promise<LoadResult>

let started = 0

/** Runs a fresh process on a fresh topic; afterwards it counts the acknowledged entries in the topic, and deletes the topic. */
async function withProgram<Result>(
  program: Program,
  { topics }: GatewayRig,
  measure: (running: RunningProgram, load: LoadOf) => Promise<Result>,
): Promise<Result & { readonly counts: Counts }> {
  const prefix = `bench-${process.pid}-${++started}`
  const running = await program.start(prefix)
  let acknowledged = 0
  let failed = 0
  const load: LoadOf = async (workload, options) => {
    const sent = running.adapt?.(workload) ?? workload
    const result = await runLoad({
      ...sent,
      url: running.url + sent.path,
      headers: { ...running.headers, ...sent.headers },
      ...options,
    })
    acknowledged += result.answered * sent.entries
    failed += result.failed
    return result
  }
  try {
    const result = await measure(running, load)
    await running.stop()
    const inTopic = await topics.count(running.topic)
    return { ...result, counts: { acknowledged, inTopic, topicBytes: await topics.bytes(running.topic), failed } }
  } finally {
    await running.stop()
    await topics.remove(await topics.named(prefix))
  }
}

export const saturate = (program: Program, workload: Workload, rig: GatewayRig): Promise<Saturation> =>
  withProgram(program, rig, async (running, load) => {
    const { broker, seconds, warmUpSeconds } = rig
    await load(workload, { seconds: warmUpSeconds })
    // Reading the program's own count must not add to its measured CPU time.
    const sendsBefore = await running.sends()
    const before = { cpu: running.cpuSeconds(), broker: await broker.cpuSeconds() }
    const result = await load(workload, { seconds })
    const after = { cpu: running.cpuSeconds(), broker: await broker.cpuSeconds() }
    const sendsAfter = await running.sends()
    const entries = result.answered * workload.entries
    return {
      program: program.name,
      workload: workload.name,
      entriesPerSecond: result.requestsPerSecond * workload.entries,
      entriesPerCpuSecond: entries / (after.cpu - before.cpu),
      brokerMsPerThousand: (1_000 * (after.broker - before.broker)) / (entries / 1_000),
      entriesPerSend: sendsBefore === null || sendsAfter === null ? null : entries / (sendsAfter - sendsBefore),
      peakMiB: running.memory().peakMiB,
    }
  })

/** Latency is measured from when each request was due. */
export const steady = (program: Program, workload: Workload, rate: number, rig: GatewayRig): Promise<Steady> =>
  withProgram(program, rig, async (running, load) => {
    await load(workload, { seconds: rig.warmUpSeconds, rate })
    const before = running.cpuSeconds()
    const { p50Ms, p99Ms, answered } = await load(workload, { seconds: rig.seconds, rate })
    const cpuMsPerRequest = (1_000 * (running.cpuSeconds() - before)) / answered
    return { program: program.name, p50Ms, p99Ms, cpuMsPerRequest }
  })

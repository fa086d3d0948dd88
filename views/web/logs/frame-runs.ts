import type { Frame } from '../../details/types.ts'

/** Frames of one kind that follow each other. */
export interface FrameRun {
  readonly framework: boolean
  readonly frames: readonly Frame[]
}

/** The frames in runs, so that those of frameworks can be folded. */
export function frameRuns(frames: readonly Frame[]): readonly FrameRun[] {
  const runs: { framework: boolean; frames: Frame[] }[] = []
  for (const one of frames) {
    const last = runs.at(-1)
    if (last?.framework === one.framework) last.frames.push(one)
    else runs.push({ framework: one.framework, frames: [one] })
  }
  return runs
}

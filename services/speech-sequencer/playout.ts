/**
 * One session being spoken: which chunks to ask for, and the frames that can leave. Holds state, does no IO.
 * Chunks come in any order and leave in theirs; the pauses between them are silence on the same timeline. A
 * chunk's marks leave once all of it is here, which is long before it is heard.
 */
import {
  type ChunkFrameHead,
  type Frame,
  frameSamplesMax,
  type ResumePoint,
  type SessionFrameHead,
  speechSampleRateHz,
  type WordMark
} from "#contracts"
import { type Aligned, alignChunk } from "#speech"
import { type ChunkIntake, chunkIntake } from "./chunk-intake.ts"
import { pcmQueue } from "./pcm-queue.ts"
import type { Script } from "./script.ts"

export interface Playout {
  readonly accept: (head: ChunkFrameHead, pcm: Int16Array) => boolean
  /** Chunks to ask for now; each is named once. */
  readonly wanted: () => ReadonlyArray<number>
  /** What may leave while the client has room up to `limitSample`. */
  readonly frames: (limitSample: number) => ReadonlyArray<Frame<SessionFrameHead>>
  /** Sound that is settled and waits to leave. */
  readonly heldMs: () => number
  /** The chunk that everything waits for; nothing when all are here. */
  readonly awaited: () => number | undefined
  /** True when audio is ready that the client has no room for. */
  readonly isFull: (limitSample: number) => boolean
  readonly isEnded: () => boolean
}

// A few chunks ahead, while less than this waits to leave: enough to hide a lost synthesizer.
const aheadChunks = 3
const aheadSamples = 4 * speechSampleRateHz
const silence = new Int16Array(0)

export const playout = (
  script: Script,
  resume: ResumePoint | null,
  onAligned: (aligned: Aligned) => void = () => {}
): Playout => {
  const { lines } = script
  const intakes = new Map<number, ChunkIntake>()
  const asked = new Set<number>()
  const queue = pcmQueue(resume?.chunkStartSample ?? 0, resume?.fromSample ?? 0)
  let current = Math.min(resume?.chunk ?? 0, lines.length)
  let opened = false
  let speechStart = 0
  let marks: Array<WordMark> = []
  let sequence = 0
  let ended = false

  const intakeOf = (chunk: number) => {
    const intake = intakes.get(chunk) ?? chunkIntake()
    intakes.set(chunk, intake)
    return intake
  }

  /** Moves what is settled of the current chunk, and of those after it, into the queue. */
  const advance = () => {
    for (let line = lines[current]; line !== undefined; line = lines[current]) {
      if (!opened) {
        queue.begin(current)
        queue.silence(line.chunk.pauseBeforeMs)
        speechStart = queue.end()
        opened = true
      }
      const intake = intakeOf(current)
      queue.push(intake.take())
      if (!intake.isComplete()) return
      const aligned = alignChunk({
        tokens: line.chunk.tokens,
        words: intake.words(),
        startSample: speechStart,
        speechEndSample: intake.speechEnd(),
        turn: script.isDialogue ? line.turn : undefined
      })
      marks.push(...aligned.marks)
      onAligned(aligned)
      queue.silence(line.chunk.pauseAfterMs)
      intakes.delete(current)
      current += 1
      opened = false
    }
  }

  const audio = (pcm: Int16Array, at: { readonly sample: number; readonly chunk: number; readonly start: number }) => {
    const leaving = marks
    marks = []
    const head = { sequence: sequence++, sample: at.sample, chunk: at.chunk, chunkStartSample: at.start }
    return { head: { _tag: "Audio" as const, ...head, marks: leaving }, pcm }
  }

  return {
    accept: (head, pcm) => {
      if (head.chunk < current || !asked.has(head.chunk)) return false
      const isNew = intakeOf(head.chunk).accept(head, pcm)
      if (isNew) advance()
      return isNew
    },
    wanted: () => {
      if (queue.waiting() >= aheadSamples) return []
      const until = Math.min(lines.length, current + aheadChunks)
      const chunks = []
      for (let chunk = current; chunk < until; chunk++) if (!asked.has(chunk)) chunks.push(chunk)
      for (const chunk of chunks) asked.add(chunk)
      return chunks
    },
    frames: (limitSample) => {
      const frames: Array<Frame<SessionFrameHead>> = []
      for (;;) {
        const taken = queue.take(Math.min(frameSamplesMax, limitSample - queue.position()))
        if (taken === undefined) break
        frames.push(audio(taken.pcm, taken))
      }
      if (current >= lines.length && queue.waiting() === 0 && !ended) {
        ended = true
        const head = { _tag: "End" as const, sequence: sequence++, totalSamples: queue.end(), marks }
        frames.push({ head, pcm: silence })
      }
      return frames
    },
    heldMs: () => (queue.waiting() * 1_000) / speechSampleRateHz,
    awaited: () => (current < lines.length ? current : undefined),
    isFull: (limitSample) => queue.waiting() > 0 && queue.position() >= limitSample,
    isEnded: () => ended
  }
}

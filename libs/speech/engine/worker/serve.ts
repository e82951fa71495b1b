/**
 * The inside of an engine's thread: takes one job after the other, has it spoken, resamples it to the fleet's rate and
 * hands the frames over. It loads no Effect, so that a thread is small and starts fast. For the same reason it imports
 * single files of the library of audio, and not the rest.
 */
import { parentPort, workerData } from "node:worker_threads"
import { makeLimiter } from "#speech/audio/limiter"
import { makeResampler } from "#speech/audio/resample"
import type { EngineVoice, WordStart } from "#speech/contract"
import type { EngineFrame, EngineJob } from "../Engine.ts"
import {
  engineHz,
  type FromThread,
  type NativeCall,
  type Outcome,
  type ThreadData,
  type ThreadJob,
  type ToThread,
  warmUpNumber
} from "./protocol.ts"

export interface Sink {
  /** Takes over the samples, at the engine's own rate. Returns false if the engine should stop. */
  readonly audio: (pcm: Int16Array, gainDb: number) => boolean
  /** `sample` counts from the job's first one, at the engine's own rate: `serve` converts it. */
  readonly word: (word: WordStart) => void
}

/** The part that each engine's thread provides itself; `serve.ts` has the rest. */
export interface Speaker {
  readonly hz: number
  /**
   * Any voice of the engine: a thread speaks a word to itself before it reports that it is ready; null if that gains
   * nothing.
   */
  readonly firstVoice: string | null
  /** How often it does, default 3; the later times are for compilers, and a slow engine has none to wait for. */
  readonly warmUps?: number
  /** It speaks words by their phonemes; others speak the text. */
  readonly readsPhonemes?: true
  /** Speaks to the end, or until the sink stops it; null if all went well. */
  readonly speak: (job: EngineJob, sink: Sink) => Outcome | null | Promise<Outcome | null>
  /** Ends its computation from another thread, if that can take long without a callback. */
  readonly stop?: NativeCall
  /** Called after each job, once its outcome is sent: for engines whose last job would affect the next. */
  readonly reset?: () => void
}

/** Thrown while opening: a package of the host is missing. */
export class MissingPart extends Error {}

/** Control characters steer engines (espeak takes U+0001 for a command) and end C strings: they become spaces. */
export const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, " ")

/**
 * A chunk lasts seconds. Ten minutes (29 MB) are the most that hostile text can cost: a single digit can last a second.
 */
const samplesMax = 600 * engineHz

/** What an engine's thread can ask of its host. */
export interface ThreadHost {
  readonly log: (line: string) => void
  /** Whether the current job is cancelled. */
  readonly isCancelled: () => boolean
  /** Called when no more jobs follow, also while the engine is being opened. */
  readonly onEnd: (close: () => void) => void
}

type Opened = Speaker | Promise<Speaker>

export const serveJobs = (open: (data: ThreadData, host: ThreadHost) => Opened): void => {
  const port = parentPort
  if (port === null) return
  const data = workerData as ThreadData
  const send = (message: FromThread, moved: ReadonlyArray<ArrayBuffer> = []) => port.postMessage(message, moved)
  const closes: Array<() => void> = []
  let speaker: Speaker | undefined
  let current = warmUpNumber
  const begin = (opened: Speaker) => {
    warmUp(opened, data)
    speaker = opened
    send({ kind: "ready", ...(opened.stop && { stop: opened.stop }) })
  }
  const refuse = (error: unknown) => {
    if (!(error instanceof MissingPart)) throw error
    send({ kind: "missing", detail: error.message })
  }
  port.on("message", (message: ToThread) => {
    if (message !== "end") {
      current = message.number
      return speaker && serveJob(speaker, data, message, send)
    }
    for (const close of closes) close()
    port.close()
  })
  try {
    const opened = open(data, {
      log: (line) => send({ kind: "log", line }),
      isCancelled: () => Atomics.load(data.cancelled, 0) === current,
      onEnd: (close) => void closes.push(close)
    })
    // Anything but a missing part has no handler here, so it ends the thread.
    if (opened instanceof Promise) void opened.then(begin).catch(refuse)
    else begin(opened)
  } catch (error) {
    refuse(error)
  }
}

/** The first job would cost some 30 ms more: compiling, the resampler's tables, the engine's dictionary. */
const warmUp = (speaker: Speaker, data: ThreadData) => {
  if (speaker.firstVoice === null) return
  const piece = {
    text: "Two sentences. To warm up.",
    ratePercent: 100,
    pitchPercent: 100,
    rangePercent: 100,
    volumeDb: 1
  }
  const voice = {
    engine: "espeak",
    name: speaker.firstVoice,
    ratePercent: 100,
    pitchPercent: 100,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: 0
  } as const
  const job = { number: warmUpNumber, job: { voice, pieces: [piece] } }
  for (let time = 0; time < (speaker.warmUps ?? 3); time++) serveJob(speaker, data, job, () => {})
}

const serveJob = (
  speaker: Speaker,
  data: ThreadData,
  { number, job }: ThreadJob,
  send: (message: FromThread, moved?: ReadonlyArray<ArrayBuffer>) => void
) => {
  const begun = performance.now()
  const { hz, voice } = formantShift(speaker.hz, job.voice)
  const limiter = makeLimiter(hz)
  const resampler = makeResampler(hz, engineHz)
  const { from = 0, to = Number.POSITIVE_INFINITY } = job.frames ?? {}
  let frames = 0
  const batcher = makeFrameBatcher((frame) => {
    frames += 1
    if (frames > from) send({ kind: "frame", number, frame }, [frame.pcm.buffer as ArrayBuffer])
  })
  let stopped: Outcome | null = null
  const stop = (outcome: Outcome) => {
    stopped = outcome
    return false
  }
  const spoken = speaker.speak(
    { ...job, voice },
    {
      audio: (pcm, gainDb) => {
        if (Atomics.load(data.cancelled, 0) === number) return stop({ kind: "cancelled" })
        batcher.audio(resampler.push(limiter.push(pcm, gainDb)))
        if (frames >= to) return stop({ kind: "spoken" })
        if (batcher.samples() < samplesMax) return true
        return stop({ kind: "failed", reason: "too_long", detail: `more than ${samplesMax / engineHz} s of audio` })
      },
      word: (word) => batcher.word({ ...word, sample: Math.round((word.sample * engineHz) / hz) })
    }
  )
  const end = (failed: Outcome | null) => {
    const outcome: Outcome = stopped ?? failed ?? { kind: "spoken" }
    if (outcome.kind === "spoken" && stopped === null) {
      batcher.audio(resampler.push(limiter.flush()))
      batcher.audio(resampler.flush())
      batcher.end()
    }
    const busyMs = performance.now() - begun
    send({
      kind: "end",
      number,
      outcome,
      busyMs,
      samples: batcher.samples(),
      readsPhonemes: speaker.readsPhonemes ?? false
    })
    speaker.reset?.()
  }
  // A rejected promise has no handler here, so it ends the thread: the pool starts another.
  if (spoken instanceof Promise) void spoken.then(end)
  else end(spoken)
}

/** A resampler's table stays small between rates on this grid: a hundred and sixty phases to the fleet's 24,000 Hz. */
const gridHz = 150
/** Beyond these bounds a voice no longer sounds like a person's. */
const factorBounds = { min: 0.7, max: 1.4 }

/**
 * A longer or shorter vocal tract. The engine speaks slower and lower, or faster and higher, by a factor: that is the
 * returned voice. Its samples then count as taken at `hz`, which is its own rate times the same factor. Pitch and pace
 * come out as requested, and the formants have moved.
 */
export const formantShift = (engineOwnHz: number, voice: EngineVoice) => {
  if (voice.formantPercent === 100) return { hz: engineOwnHz, voice }
  const requested = Math.max(factorBounds.min, Math.min(factorBounds.max, voice.formantPercent / 100))
  const hz = gridHz * Math.round((engineOwnHz * requested) / gridHz)
  const factor = hz / engineOwnHz
  return {
    hz,
    voice: { ...voice, ratePercent: voice.ratePercent / factor, pitchPercent: voice.pitchPercent / factor }
  }
}

const secondFrame = engineHz / 10
const frameMax = engineHz

interface FrameBatcher {
  readonly word: (word: WordStart) => void
  readonly audio: (pcm: Int16Array) => void
  /** Sends the remaining samples. */
  readonly end: () => void
  /** Samples taken in so far. */
  readonly samples: () => number
}

/**
 * Makes frames of an engine's small callbacks: the first samples are sent at once, later frames double from 100 ms up
 * to 1 s, so that a listener starts early and a long text costs few messages. A word is sent with the frame in which it
 * starts, although engines report it earlier.
 */
export const makeFrameBatcher = (send: (frame: EngineFrame) => void): FrameBatcher => {
  let target = 0
  let pending: Array<Int16Array> = []
  let heldLength = 0
  let samples = 0
  let words: Array<WordStart> = []

  const sendHeld = (isLast: boolean) => {
    const begun = isLast
      ? words.map((word) => ({ ...word, sample: Math.min(word.sample, samples) }))
      : words.filter((word) => word.sample < samples)
    words = isLast ? [] : words.filter((word) => word.sample >= samples)
    send({ pcm: joined(pending, heldLength), words: begun })
    pending = []
    heldLength = 0
    target = target === 0 ? secondFrame : Math.min(frameMax, target * 2)
  }

  return {
    word: (word) => void words.push(word),
    audio: (pcm) => {
      if (pcm.length === 0) return
      pending.push(pcm)
      heldLength += pcm.length
      samples += pcm.length
      if (heldLength >= target) sendHeld(false)
    },
    end: () => {
      if (heldLength > 0 || words.length > 0) sendHeld(true)
    },
    samples: () => samples
  }
}

/** Always a buffer of its own, because it is handed over to another thread. */
export const joined = (runs: ReadonlyArray<Int16Array>, length: number) => {
  const whole = new Int16Array(length)
  let at = 0
  for (const run of runs) {
    whole.set(run, at)
    at += run.length
  }
  return whole
}

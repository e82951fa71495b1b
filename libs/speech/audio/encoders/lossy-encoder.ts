/**
 * A lossy encoder encodes answer after answer: one ffmpeg, or one of those that share a process. Between two answers it
 * is fed silence, which pushes out the last frames of one and is the run-up of the next. Frames are counted, so each
 * answer gets exactly its own, and the silence is long enough that no answer affects the next. A start of ffmpeg costs
 * 60 ms of a processor, this costs four. An encoder that did not deliver its last answer completely, to the frame, is
 * not reused. Opus in Ogg, whose pages carry positions, and AAC, whose rate control never forgets, end after one
 * answer.
 *
 * It is fed at most two seconds ahead of the reader: its pipes would hold a minute of mp3, and the client's pace should
 * reach the source of the PCM.
 */
import { Effect, Latch } from "effect"
import type { EncoderPlan } from "./plan.ts"
import { EncoderFailed, type FfmpegMissing } from "../errors.ts"
import type { EncoderProcess } from "./encoder-process.ts"
import { type FfmpegOptions, startFfmpeg } from "./ffmpeg-process.ts"
import { type FrameCutter, makeFrameCutter } from "./frames.ts"
import type { LameProcesses } from "./lame-process.ts"

/** The listener of a piece; queried when it can be fed. */
interface PieceListener {
  /** The audio that it has received and not played yet. */
  readonly bufferedMs: () => number
  readonly isPlaying: () => boolean
}

/** The silence between two answers. */
const noListener: PieceListener = { bufferedMs: () => 0, isPlaying: () => true }

export interface LossyEncoder {
  readonly process: EncoderProcess
  /** Called before the first write of each answer. */
  readonly begin: Effect.Effect<void>
  readonly write: (pcm: Int16Array, listener: PieceListener) => Effect.Effect<void>
  /** Called when the answer is written. */
  readonly finish: Effect.Effect<void>
  /** Whole frames of this answer; null once it has them all. */
  readonly read: Effect.Effect<Uint8Array | null, FfmpegMissing | EncoderFailed>
  /** Samples of all answers since the process started, at the encoder's rate, without the silence between them. */
  readonly encodedSamples: () => number
  readonly isReusable: () => boolean
}

// More than any encoder's look-ahead, so that none starves while it waits for more.
const aheadSecondsMax = 2
// A leak in an encoder process lasts no longer than this many answers.
const answersMax = 500
// An encoder of an unknown version may look further ahead than the silence reaches: then its input is closed.
const lastFramesWithin = "500 millis"

export const startLossyEncoder = Effect.fnUntraced(function* (
  plan: EncoderPlan,
  options: FfmpegOptions,
  lame: LameProcesses
) {
  const shared = yield* lame.start(plan)
  return encoderOver(plan, shared ?? (yield* startFfmpeg(plan, options)))
})

interface Encoding {
  readonly plan: EncoderPlan
  readonly process: EncoderProcess
  readonly cutter: FrameCutter
  /** Open while the encoder can be fed further ahead of the reader. */
  readonly mayFeed: Latch.Latch
  fed: number
  answers: number
  answerFrom: number
  firstFrame: number
  /** Infinite until the answer is written. */
  endFrame: number
  isEnding: boolean
}

const encoderOver = (plan: EncoderPlan, process: EncoderProcess): LossyEncoder => {
  const cutter = makeFrameCutter(plan.shape)
  const encoding: Encoding = {
    plan,
    process,
    cutter,
    mayFeed: Latch.makeUnsafe(true),
    fed: plan.primeSamples,
    answers: 0,
    answerFrom: 0,
    firstFrame: 0,
    endFrame: Number.POSITIVE_INFINITY,
    isEnding: false
  }
  const isReusable = () => {
    const { answers, isEnding } = encoding
    return plan.pauseSamples > 0 && hasAll(encoding) && !isEnding && answers < answersMax && !process.hasEnded()
  }
  return {
    process,
    begin: Effect.andThen(
      Effect.sync(() => begin(encoding)),
      process.begin
    ),
    write: (pcm, listener) => Effect.andThen(Latch.await(encoding.mayFeed), feed(encoding, pcm, listener)),
    finish: finish(encoding),
    read: read(encoding),
    encodedSamples: cutter.samplesPassed,
    isReusable
  }
}

const begin = (encoding: Encoding) => {
  const { plan, cutter, fed } = encoding
  encoding.answers += 1
  encoding.answerFrom = fed
  encoding.firstFrame = plan.framesBefore(fed)
  encoding.endFrame = Number.POSITIVE_INFINITY
  cutter.letOut(encoding.firstFrame, encoding.endFrame)
}

const feed = (encoding: Encoding, pcm: Int16Array, listener: PieceListener) =>
  Effect.suspend(() => {
    encoding.fed += pcm.length
    measureLead(encoding)
    const isUrgent = hasNoFrame(encoding) || !listener.isPlaying()
    return encoding.process.write(pcm, { isUrgent, bufferedMs: listener.bufferedMs() })
  })

const hasNoFrame = ({ cutter, firstFrame }: Encoding) => cutter.framesSeen() <= firstFrame

const measureLead = ({ plan, cutter, mayFeed, fed }: Encoding) => {
  if (fed - cutter.samplesSeen() < aheadSecondsMax * plan.rateHz) Latch.openUnsafe(mayFeed)
  else Latch.closeUnsafe(mayFeed)
}

const finish = (encoding: Encoding) =>
  Effect.suspend(() => {
    const { plan, cutter, fed, firstFrame, answerFrom } = encoding
    encoding.endFrame = firstFrame + plan.framesOf(fed - answerFrom)
    cutter.letOut(firstFrame, encoding.endFrame)
    return plan.pauseSamples === 0
      ? endInput(encoding)
      : feed(encoding, new Int16Array(pauseAfter(plan, fed)), noListener)
  })

const pauseAfter = ({ primeSamples, pauseSamples, periodSamples }: EncoderPlan, fed: number) => {
  const over = (fed + pauseSamples - primeSamples) % periodSamples
  return pauseSamples + (over === 0 ? 0 : periodSamples - over)
}

const endInput = (encoding: Encoding) =>
  Effect.suspend(() => {
    encoding.isEnding = true
    return encoding.process.end
  })

const read = (encoding: Encoding): LossyEncoder["read"] => {
  const { cutter } = encoding
  const next: LossyEncoder["read"] = Effect.suspend(() =>
    hasAll(encoding) ? Effect.succeed(null) : readOrEnd(encoding)
  ).pipe(
    Effect.flatMap((chunk) => {
      if (chunk === null) {
        const isComplete = hasAll(encoding) || !isWritten(encoding)
        return isComplete ? Effect.succeed(null) : broken(encoding, "ended early")
      }
      const bytes = cutter.push(chunk)
      measureLead(encoding)
      if (bytes === null) return broken(encoding, "wrote what is no frame")
      return bytes.length === 0 ? next : Effect.succeed(bytes)
    })
  )
  return next
}

const hasAll = ({ cutter, endFrame }: Encoding) => cutter.framesSeen() >= endFrame

const isWritten = ({ endFrame }: Encoding) => Number.isFinite(endFrame)

const readOrEnd = (encoding: Encoding) => {
  const { process } = encoding
  if (!isWritten(encoding) || encoding.isEnding) return process.read
  return Effect.timeoutOrElse(process.read, {
    duration: lastFramesWithin,
    orElse: () => Effect.andThen(endInput(encoding), process.read)
  })
}

const broken = ({ plan, process }: Encoding, line: string) =>
  Effect.suspend(() => {
    process.kill()
    return Effect.fail(new EncoderFailed({ encoder: plan.key, exitCode: null, lines: [line] }))
  })

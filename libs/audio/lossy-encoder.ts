/**
 * One ffmpeg that encodes answer after answer. Between two of them it is fed silence, which pushes out the
 * last frames of the one and is the run-up of the other; frames are counted, so each answer gets exactly its
 * own, and the silence is so long that none is told from the one before. A start of ffmpeg costs 60 ms of a
 * processor, this costs four. An encoder that did not deliver its last answer to the end, to the frame, is not used
 * again. Opus in Ogg, whose pages carry positions, and AAC, whose rate control never forgets, are ended instead.
 *
 * It is fed at most two seconds ahead of what was read: its pipes would hold a minute of mp3, and the
 * client's pace is to be felt by whoever makes the PCM.
 */
import { Effect, Latch } from "effect"
import type { EncoderPlan } from "./encoder-plan.ts"
import { EncoderFailed, type EncoderMissing } from "./errors.ts"
import { type FfmpegOptions, type FfmpegProcess, startFfmpeg } from "./ffmpeg-process.ts"
import { makeFrameCutter } from "./frame-cutter.ts"

export interface LossyEncoder {
  readonly process: FfmpegProcess
  /** Before the first write of each answer. */
  readonly begin: Effect.Effect<void>
  readonly write: (pcm: Int16Array) => Effect.Effect<void>
  /** The answer is written. */
  readonly finish: Effect.Effect<void>
  /** Whole frames of this answer; null when it has them all. */
  readonly read: Effect.Effect<Uint8Array | null, EncoderMissing | EncoderFailed>
  /** Since the process began, in the encoder's rate. */
  readonly encodedSamples: () => number
  readonly isReusable: () => boolean
}

// More than any encoder looks ahead, so that none starves that waits for more.
const aheadSecondsMax = 2
// What leaks, leaks no longer than this.
const answersMax = 500
// An encoder of an unknown version may look further ahead than the silence reaches: then its input is ended.
const lastFramesWithin = "500 millis"

export const startLossyEncoder = (plan: EncoderPlan, options: FfmpegOptions): Effect.Effect<LossyEncoder> =>
  Effect.map(startFfmpeg(plan, options), (ffmpeg) => overProcess(plan, ffmpeg))

const pauseAfter = ({ primeSamples, pauseSamples, periodSamples }: EncoderPlan, fed: number) => {
  const over = (fed + pauseSamples - primeSamples) % periodSamples
  return pauseSamples + (over === 0 ? 0 : periodSamples - over)
}

const overProcess = (plan: EncoderPlan, ffmpeg: FfmpegProcess): LossyEncoder => {
  const cutter = makeFrameCutter(plan.shape)
  const room = Latch.makeUnsafe(true)
  const aheadMax = aheadSecondsMax * plan.rateHz
  let fed = plan.primeSamples
  let answers = 0
  let firstFrame = 0
  let answerFrom = 0
  let endFrame = Number.POSITIVE_INFINITY
  let isEnding = false

  const measureLead = () => {
    if (fed - cutter.samplesSeen() < aheadMax) Latch.openUnsafe(room)
    else Latch.closeUnsafe(room)
  }
  const feed = (pcm: Int16Array) =>
    Effect.suspend(() => {
      fed += pcm.length
      measureLead()
      return ffmpeg.write(pcm)
    })
  const broken = (line: string) =>
    Effect.suspend(() => {
      ffmpeg.kill()
      return Effect.fail(new EncoderFailed({ encoder: plan.key, exitCode: null, lines: [line] }))
    })
  const hasAll = () => cutter.framesSeen() >= endFrame
  const endInput = Effect.suspend(() => {
    isEnding = true
    return ffmpeg.end
  })

  const readOrEnd = Effect.suspend(() =>
    !Number.isFinite(endFrame) || isEnding
      ? ffmpeg.read
      : Effect.timeoutOrElse(ffmpeg.read, {
          duration: lastFramesWithin,
          orElse: () => Effect.andThen(endInput, ffmpeg.read)
        })
  )
  const read: LossyEncoder["read"] = Effect.suspend(() => (hasAll() ? Effect.succeed(null) : readOrEnd)).pipe(
    Effect.flatMap((chunk) => {
      if (chunk === null)
        return hasAll() || endFrame === Number.POSITIVE_INFINITY ? Effect.succeed(null) : broken("ended early")
      const bytes = cutter.push(chunk)
      measureLead()
      if (bytes === null) return broken("wrote what is no frame")
      return bytes.length === 0 ? read : Effect.succeed(bytes)
    })
  )

  return {
    process: ffmpeg,
    begin: Effect.sync(() => {
      answers += 1
      answerFrom = fed
      firstFrame = plan.framesBefore(fed)
      endFrame = Number.POSITIVE_INFINITY
      cutter.letOut(firstFrame, endFrame)
    }),
    write: (pcm) => Effect.andThen(Latch.await(room), feed(pcm)),
    finish: Effect.suspend(() => {
      endFrame = firstFrame + plan.framesOf(fed - answerFrom)
      cutter.letOut(firstFrame, endFrame)
      return plan.pauseSamples === 0 ? endInput : feed(new Int16Array(pauseAfter(plan, fed)))
    }),
    read,
    encodedSamples: cutter.samplesSeen,
    isReusable: () => plan.pauseSamples > 0 && hasAll() && !isEnding && answers < answersMax && !ffmpeg.hasEnded()
  }
}

/**
 * A plan spoken and encoded: bytes at the caller's pace, and the marks that became final beside them. Keeps
 * the times of its stages for metrics and for the Server-Timing header.
 */
import { Clock, Context, Effect, Layer, type Scope, Stream } from "effect"
import { type AudioError, Encoders, fleetRateHz, makeLoudnessLeveller, paddedSamples } from "#audio"
import type { WordMark } from "#contracts"
import { Metrics } from "#runtime"
import {
  charactersSpoken,
  firstByteSeconds,
  realTimeFactor,
  spokenSeconds,
  stageSeconds,
  streamsEnded,
  underruns
} from "../metrics.ts"
import { SpeechAdmission } from "./SpeechAdmission.ts"
import { type SpeechSession, SpeechSessions } from "./SpeechSessions.ts"
import type { SpeechPlan } from "./plan.ts"
import {
  type InputRefused,
  overloadReason,
  type SpeechBusy,
  type SpeechError,
  type SpeechFailed,
  type SpeechOverloaded
} from "./refusals.ts"

export interface Spoken {
  readonly sentences: SpeechSession["sentences"]
  readonly bytes: Stream.Stream<Uint8Array, SpeechFailed | AudioError>
  /** Marks that became final since the last call. */
  readonly takeMarks: () => ReadonlyArray<WordMark>
  /** Length of the audio as it decodes; whole once `bytes` has ended. */
  readonly durationMs: () => number
  /** For Server-Timing, complete with the first byte. */
  readonly timing: () => string
}

export class Speech extends Context.Service<
  Speech,
  {
    readonly speak: (
      plan: SpeechPlan,
      startedAtMs: number
    ) => Effect.Effect<Spoken, InputRefused | SpeechOverloaded | SpeechBusy | SpeechFailed, Scope.Scope>
  }
>()("starling/speech-api/Speech") {
  static readonly layer = Layer.effect(
    Speech,
    Effect.gen(function* () {
      const sessions = yield* SpeechSessions
      const encoders = yield* Encoders
      const admission = yield* SpeechAdmission
      const clock = yield* Clock.Clock
      const metrics = yield* Metrics
      const firstByte = metrics.histogram(firstByteSeconds)
      const stages = metrics.histogram(stageSeconds)
      const spoken = metrics.counter(spokenSeconds)
      const factor = metrics.histogram(realTimeFactor)
      const starved = metrics.counter(underruns)
      const ended = metrics.counter(streamsEnded)
      const characters = metrics.counter(charactersSpoken)
      const nowMs = () => Number(clock.currentTimeNanosUnsafe()) / 1e6
      const countRefusal = <E extends SpeechError>(error: E) =>
        Effect.sync(() => {
          const reason = overloadReason(error)
          if (reason !== undefined) admission.refused(reason)
        })

      const speak = Effect.fn("Speech.speak")(function* (plan: SpeechPlan, startedAtMs: number) {
        const { format } = plan
        const times = new Map<string, number>()
        let lastAtMs = startedAtMs
        const mark = (stage: string) => {
          if (times.has(stage)) return
          times.set(stage, nowMs() - lastAtMs)
          stages.observe({ stage }, (nowMs() - lastAtMs) / 1_000)
          lastAtMs = nowMs()
        }
        // `startedAtMs` is of another clock, which never goes back.
        const arrivedAtMs = clock.currentTimeMillisUnsafe() - (nowMs() - startedAtMs)
        const { turns, textNormalization } = plan
        const engine = turns[0]?.voice.engine ?? ""
        const pace = yield* admission.enter({ engine, arrivedAtMs, plays: plan.isPlayed })
        mark("wait")
        const { listener, turn, windowSamplesMax, begunByMs } = pace
        const session = yield* sessions
          .open({ turns, textNormalization }, { turn, windowSamplesMax, begunByMs })
          .pipe(Effect.tapError(countRefusal))
        mark("admit")
        const leveller = plan.loudnessNormalization ? makeLoudnessLeveller() : undefined
        const player = playerClock()
        let marks: Array<WordMark> = []
        let samples = 0
        let isWhole = false
        let hasFailed = false

        const pcm = session.pieces.pipe(
          Stream.map((piece) => {
            if (piece.pcm.length > 0) mark("first_pcm")
            marks.push(...piece.marks)
            samples += piece.pcm.length
            if (player.fed(piece.pcm.length / fleetRateHz, nowMs(), piece.waitedMs)) starved.inc({})
            return leveller?.push(piece.pcm) ?? piece.pcm
          }),
          Stream.filter((piece) => piece.length > 0)
        )
        const epochMs = () => clock.currentTimeMillisUnsafe()
        const encoded = encoders.encode(format, pcm, (seconds) => listener.got(seconds, epochMs()))
        const bytes = wanting(encoded, () => listener.wants(epochMs())).pipe(
          Stream.tapError(countRefusal),
          Stream.tap(() =>
            Effect.sync(() => {
              if (times.has("encode")) return
              mark("encode")
              player.started(nowMs())
              firstByte.observe({ format: format.name, model: plan.model.id }, (nowMs() - startedAtMs) / 1_000)
            })
          ),
          Stream.tapError(() =>
            Effect.sync(() => {
              hasFailed = true
            })
          ),
          Stream.onEnd(
            Effect.sync(() => {
              isWhole = true
            })
          )
        )
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            const seconds = samples / fleetRateHz
            // The scope's exit does not tell: to it a caller who left before the first byte was answered.
            const outcome = isWhole ? "spoken" : hasFailed ? "failed" : "cancelled"
            ended.inc({ outcome })
            spoken.inc({ format: format.name }, seconds)
            characters.inc({ model: plan.model.id }, plan.billableCharacters)
            if (isWhole && seconds > 0) factor.observe({}, (nowMs() - startedAtMs) / 1_000 / seconds)
          })
        )
        const answer: Spoken = {
          sentences: session.sentences,
          bytes,
          takeMarks: () => {
            const taken = marks
            marks = []
            return taken
          },
          durationMs: () => (paddedSamples(format, samples) * 1_000) / fleetRateHz,
          timing: () => [...times].map(([stage, took]) => `${stage};dur=${took.toFixed(1)}`).join(", ")
        }
        return answer
      })
      return Speech.of({ speak })
    })
  )
}

/** Tells of each time that more is asked for. */
const wanting = <A, E, R>(stream: Stream.Stream<A, E, R>, tell: () => void): Stream.Stream<A, E, R> =>
  Stream.transformPull(stream, (pull) => Effect.succeed(Effect.andThen(Effect.sync(tell), pull)))

/**
 * Plays an answer as a client would that starts with the first byte: tells when it would have fallen silent
 * because we were late. Time that the client itself took before it read on does not count against us. No IO.
 */
interface PlayerClock {
  readonly started: (nowMs: number) => void
  /**
   * Takes in seconds of audio that became ready after we were waited for; true when the player had run dry
   * meanwhile. A client that reads slower than it plays waits for nobody, and is not counted.
   */
  readonly fed: (seconds: number, nowMs: number, waitedMs: number) => boolean
}

// A frame of the coarsest codec: below it nobody hears a gap.
const toleranceMs = 40

export const playerClock = (): PlayerClock => {
  let startedAtMs: number | undefined
  let readyMs = 0
  return {
    started: (nowMs) => (startedAtMs ??= nowMs),
    fed: (seconds, nowMs, waitedMs) => {
      const isBehind = startedAtMs !== undefined && nowMs - startedAtMs > readyMs + toleranceMs
      const isDry = isBehind && waitedMs > toleranceMs
      // What is ready is ahead of the player from now on, however late it came.
      if (isBehind) startedAtMs = nowMs - readyMs
      readyMs += seconds * 1_000
      return isDry
    }
  }
}

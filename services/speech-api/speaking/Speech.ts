/**
 * A plan, spoken and encoded: bytes at the caller's pace, with the speech marks that became final beside them. It
 * records the times of its stages for metrics and for the Server-Timing header.
 */
import { Cause, Clock, Context, Effect, Layer, Pull, type Scope, Stream } from "effect"
import { type AudioError, Encoders, makeLoudnessLeveller, paddedSamples } from "#speech/audio"
import { type OtherMark, type SpeechFigures, speechSampleRateHz, type WordMark } from "#speech/contract"
import { Metrics } from "#runtime"
import { soundMsOf } from "#speech"
import {
  charactersSpoken,
  firstByteSeconds,
  firstSoundSeconds,
  realTimeFactor,
  spokenSeconds,
  stageSeconds,
  streamsEnded,
  underruns as underrunsTotal
} from "../metrics.ts"
import { type Pace, SpeechAdmission } from "./SpeechAdmission.ts"
import { playerClock, type PlayerClock } from "./player-clock.ts"
import { makeRecent, quantileOf } from "./recent.ts"
import { type KeptSpeech, type Recorder, SpeechCache } from "./SpeechCache.ts"
import { type SpeechSession, SpeechSessions } from "./SpeechSessions.ts"
import { type MarkTaker, markTaker, phonemesFor } from "./marks.ts"
import type { SpeechPlan } from "./plan.ts"
import {
  type InputRefused,
  overloadReason,
  type SpeechBusy,
  type SpeechError,
  type SpeechFailed,
  type SpeechOverloaded
} from "../refusals.ts"

export interface Spoken {
  readonly sentences: SpeechSession["sentences"]
  readonly bytes: Stream.Stream<Uint8Array, InputRefused | SpeechFailed | AudioError>
  /** The words that became final since the last call. */
  readonly takeMarks: () => ReadonlyArray<WordMark>
  /** The marks of other kinds that the plan asks for and that became final. */
  readonly takeOthers: () => ReadonlyArray<OtherMark>
  /** The length of the decoded audio; complete once `bytes` has ended. */
  readonly durationMs: () => number
  /** Without the turns that made no sound; complete once `bytes` has ended. */
  readonly billableCharacters: () => number
  /** The Server-Timing header, complete with the first byte. */
  readonly timing: () => string
  /** When it was spoken, for an answer from the cache. */
  readonly keptSinceMs: number | undefined
}

const metersOf = Effect.map(Metrics, (metrics) => ({
  firstByte: metrics.histogram(firstByteSeconds),
  firstSound: metrics.histogram(firstSoundSeconds),
  stages: metrics.histogram(stageSeconds),
  spokenSeconds: metrics.counter(spokenSeconds),
  factor: metrics.histogram(realTimeFactor),
  underruns: metrics.counter(underrunsTotal),
  ended: metrics.counter(streamsEnded),
  characters: metrics.counter(charactersSpoken)
}))

/** The parts that all answers share. */
const partsOf = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  return {
    sessions: yield* SpeechSessions,
    encoders: yield* Encoders,
    admission: yield* SpeechAdmission,
    cache: yield* SpeechCache,
    meters: yield* metersOf,
    firstBytesMs: makeRecent(),
    underruns: makeRecent(),
    clock,
    nowMs: () => Number(clock.currentTimeNanosUnsafe()) / 1e6
  }
})
type Parts = Effect.Success<typeof partsOf>

interface Answer {
  readonly plan: SpeechPlan
  readonly startedAtMs: number
  readonly stages: StageTimes
  readonly player: PlayerClock
  readonly marks: MarkTaker
  samples: number
  /** Since the request, on the first byte; and the silence before the first sound. */
  firstByteMs: number | undefined
  silentMs: number | undefined
  silentTurns: ReadonlyArray<number>
  /** Records the answer for the cache. */
  readonly recorder: Recorder | undefined
  /** The scope's exit cannot say this: to it, a caller that left before the first byte was answered. */
  outcome: "spoken" | "refused" | "failed" | "cancelled"
}

interface Source {
  readonly session: SpeechSession
  readonly listener: Pace["listener"]
}

type RecentSpeech = Pick<SpeechFigures, "firstBytes" | "firstByteMedianMs" | "firstByteP95Ms" | "underruns">

const recentOf = ({ firstBytesMs, underruns }: Parts, nowMs: number): RecentSpeech => {
  const values = firstBytesMs.values(nowMs)
  return {
    firstBytes: values.length,
    firstByteMedianMs: quantileOf(values, 0.5),
    firstByteP95Ms: quantileOf(values, 0.95),
    underruns: underruns.values(nowMs).length
  }
}

export class Speech extends Context.Service<
  Speech,
  {
    readonly speak: (
      plan: SpeechPlan,
      startedAtMs: number
    ) => Effect.Effect<Spoken, InputRefused | SpeechOverloaded | SpeechBusy | SpeechFailed, Scope.Scope>
    /** The figures of the last five minutes. */
    readonly recent: (nowMs: number) => RecentSpeech
  }
>()("starling/speech-api/Speech") {
  static readonly layer = Layer.effect(
    Speech,
    Effect.map(partsOf, (parts) =>
      Speech.of({
        speak: (plan, startedAtMs) => speak(parts, plan, startedAtMs),
        recent: (nowMs) => recentOf(parts, nowMs)
      })
    )
  ).pipe(Layer.provide(SpeechCache.layer))
}

const speak = Effect.fn("Speech.speak")(function* (parts: Parts, plan: SpeechPlan, startedAtMs: number) {
  const { cache, clock } = parts
  const key = plan.cacheKey
  const kept = key === undefined ? undefined : cache.find(key, clock.currentTimeMillisUnsafe())
  if (kept !== undefined) return yield* spokenBefore(parts, { plan, startedAtMs, recorder: undefined }, kept)
  const recorder = key === undefined ? undefined : cache.record(key)
  if (recorder !== undefined) yield* Effect.addFinalizer(() => Effect.sync(recorder.drop))
  return yield* spokenNow(parts, { plan, startedAtMs, recorder })
})

type Asked = Pick<Answer, "plan" | "startedAtMs" | "recorder">

const answerOf = (asked: Asked, stages: StageTimes, sentences: Spoken["sentences"]): Answer => ({
  ...asked,
  stages,
  player: playerClock(),
  marks: markTaker(asked.plan, sentences),
  samples: 0,
  firstByteMs: undefined,
  silentMs: undefined,
  silentTurns: [],
  outcome: "cancelled"
})

const durationMsOf = (answer: Answer) => () =>
  (paddedSamples(answer.plan.format, answer.samples) * 1_000) / speechSampleRateHz

const billableCharactersOf = ({ plan, silentTurns }: Answer) => {
  const { billableCharacters, turns } = plan
  if (silentTurns.length === turns.length) return 0
  return silentTurns.reduce((sum, turn) => sum - (turns[turn]?.input.length ?? 0), billableCharacters)
}

// As much as one event of a stream holds.
const keptPieceBytes = 40_000

/** From the cache: it takes no sequencer and no encoder, and counts like any other answer. */
const spokenBefore = Effect.fnUntraced(function* (parts: Parts, asked: Asked, kept: KeptSpeech) {
  const stages = stageTimes(parts, asked.startedAtMs)
  const answer = answerOf(asked, stages, kept.sentences)
  answer.marks.add(kept.marks)
  answer.samples = kept.samples
  yield* Effect.addFinalizer(() => Effect.sync(() => countEnd(parts, answer)))
  const pieces = Array.from({ length: Math.ceil(kept.audio.length / keptPieceBytes) }, (_, index) =>
    kept.audio.subarray(index * keptPieceBytes, (index + 1) * keptPieceBytes)
  )
  const bytes = Stream.fromIterable(pieces).pipe(
    Stream.tap(() => Effect.sync(() => countFirstByte(parts, answer, "cache"))),
    Stream.onEnd(Effect.sync(() => (answer.outcome = "spoken")))
  )
  const spoken: Spoken = {
    sentences: kept.sentences,
    bytes,
    takeMarks: answer.marks.words,
    takeOthers: () => answer.marks.others(answer.outcome === "spoken"),
    durationMs: durationMsOf(answer),
    billableCharacters: () => billableCharactersOf(answer),
    timing: stages.timing,
    keptSinceMs: kept.spokenAtMs
  }
  return spoken
})

const spokenNow = Effect.fnUntraced(function* (parts: Parts, asked: Asked) {
  const { plan, startedAtMs } = asked
  const { admission, clock, nowMs, sessions } = parts
  const { isBackground, isPlayed: plays, priority = {}, textNormalization, turns } = plan
  const stages = stageTimes(parts, startedAtMs)
  const engine = turns[0]?.voice.engine ?? ""
  // `startedAtMs` comes from the monotonic clock.
  const arrivedAtMs = clock.currentTimeMillisUnsafe() - (nowMs() - startedAtMs)
  const entrance = { engine, arrivedAtMs, plays, soundMs: soundMsOf(turns), request: requestOf(plan), ...priority }
  const pace = yield* isBackground === true ? admission.background : admission.enter(entrance)
  stages.reached("wait")
  const session = yield* sessions
    .open({ turns, textNormalization, ...phonemesFor(plan), ...(isBackground && { isBackground }) }, pace)
    .pipe(Effect.tapError((error) => countRefusal(parts, error)))
  stages.reached("admit")
  const answer = answerOf(asked, stages, session.sentences)
  const bytes = encoded(parts, answer, { session, listener: pace.listener })
  yield* Effect.addFinalizer(() => Effect.sync(() => countEnd(parts, answer)))
  const spoken: Spoken = {
    sentences: session.sentences,
    bytes,
    takeMarks: answer.marks.words,
    takeOthers: () => answer.marks.others(answer.outcome === "spoken"),
    durationMs: durationMsOf(answer),
    billableCharacters: () => billableCharactersOf(answer),
    timing: stages.timing,
    keptSinceMs: undefined
  }
  return spoken
})

const requestOf = ({ cacheKey, turns }: SpeechPlan) =>
  cacheKey?.digest ?? turns.map(({ input, voiceId }) => `${voiceId} ${input.slice(0, 200)}`).join("\n")

/** A session's pieces, encoded in the requested format. */
const encoded = (parts: Parts, answer: Answer, { session, listener }: Source): Spoken["bytes"] => {
  const { clock, encoders } = parts
  const { plan, recorder } = answer
  const epochMs = () => clock.currentTimeMillisUnsafe()
  const pcm = pcmOf(parts, answer, session.pieces)
  const bytes = encoders.encode(plan.format, pcm, {
    got: (seconds) => listener.got(seconds, epochMs()),
    bufferedMs: () => listener.bufferedMs(epochMs()),
    isPlaying: listener.hasAudio
  })
  return onPull(bytes, () => listener.wants(epochMs())).pipe(
    heldBackUntil((hasAll) => listener.mayBegin(epochMs(), hasAll)),
    Stream.tapError((error) => countRefusal(parts, error)),
    Stream.tap((piece) =>
      Effect.sync(() => {
        recorder?.audio(piece)
        countFirstByte(parts, answer, "encode")
      })
    ),
    Stream.tapError((error) =>
      Effect.sync(() => (answer.outcome = error._tag === "InputRefused" ? "refused" : "failed"))
    ),
    Stream.onEnd(
      Effect.sync(() => {
        answer.outcome = "spoken"
        // What costs nothing is not worth keeping, and would be billed when it is found.
        if (answer.silentTurns.length === 0)
          recorder?.keep({ sentences: session.sentences, samples: answer.samples, spokenAtMs: epochMs() })
      })
    )
  )
}

const countFirstByte = (parts: Parts, answer: Answer, stage: "encode" | "cache") => {
  const { clock, firstBytesMs, meters, nowMs } = parts
  const { plan, player, stages, startedAtMs } = answer
  if (!stages.reached(stage)) return
  player.started(nowMs())
  answer.firstByteMs = nowMs() - startedAtMs
  if (plan.isBackground !== true) {
    firstBytesMs.note(clock.currentTimeMillisUnsafe(), Math.round(answer.firstByteMs))
    meters.firstByte.observe({ format: plan.format.name, model: plan.model.id }, answer.firstByteMs / 1_000)
  }
  countFirstSound(parts, answer)
}

/** 40 dB below full scale. */
const audible = 330

const listenFor = (parts: Parts, answer: Answer, pcm: Int16Array) => {
  if (answer.silentMs !== undefined) return
  const at = pcm.findIndex((sample) => Math.abs(sample) > audible)
  if (at === -1) return
  answer.silentMs = ((answer.samples + at) * 1_000) / speechSampleRateHz
  countFirstSound(parts, answer)
}

/** Once both are known: when it is heard by who plays it as it comes. */
const countFirstSound = ({ meters, nowMs }: Parts, { firstByteMs, plan, silentMs, stages, startedAtMs }: Answer) => {
  if (firstByteMs === undefined || silentMs === undefined) return
  const heardMs = Math.max(nowMs() - startedAtMs, firstByteMs + silentMs)
  stages.heard(heardMs)
  meters.firstSound.observe({ engine: plan.turns[0]?.voice.engine ?? "" }, heardMs / 1_000)
}

const pcmOf = (parts: Parts, answer: Answer, pieces: SpeechSession["pieces"]) => {
  const { clock, meters, nowMs, underruns } = parts
  const { plan, player, recorder, stages } = answer
  const leveller = plan.loudnessNormalization ? makeLoudnessLeveller() : undefined
  return pieces.pipe(
    Stream.map(({ pcm, marks, silentTurns = [], waitedMs }) => {
      answer.silentTurns = silentTurns
      if (pcm.length > 0) stages.reached("first_pcm")
      answer.marks.add(marks)
      recorder?.marks(marks)
      listenFor(parts, answer, pcm)
      answer.samples += pcm.length
      if (player.fed(pcm.length / speechSampleRateHz, nowMs(), waitedMs) && plan.isPlayed) {
        meters.underruns.inc({})
        underruns.note(clock.currentTimeMillisUnsafe(), 1)
      }
      return leveller?.push(pcm) ?? pcm
    }),
    Stream.filter((pcm) => pcm.length > 0)
  )
}

/** Calls `tell` each time the consumer asks for more. */
const onPull = <A, E, R>(stream: Stream.Stream<A, E, R>, notify: () => void): Stream.Stream<A, E, R> =>
  Stream.transformPull(stream, (pull) => Effect.succeed(Effect.andThen(Effect.sync(notify), pull)))

/** Holds the stream back until there is enough, or all. */
export const heldBackUntil =
  (isEnough: (hasAll: boolean) => boolean) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.transformPull(bytes, (pull) =>
      Effect.sync(() => {
        const chunks: Array<Uint8Array> = []
        let [isOut, hasEnded] = [false, false]
        const gathered: typeof pull = pull.pipe(
          Effect.map((pieces) => void chunks.push(...pieces)),
          Pull.catchDone(() => Effect.sync(() => void (hasEnded = true))),
          Effect.flatMap(() => {
            isOut = isEnough(hasEnded) || hasEnded
            if (!isOut) return gathered
            return chunks.length === 0 ? Cause.done() : Effect.succeed([Buffer.concat(chunks)] as const)
          })
        )
        return Effect.suspend(() => (hasEnded ? Cause.done() : isOut ? pull : gathered))
      })
    )

const countRefusal = ({ admission }: Parts, error: SpeechError) =>
  Effect.sync(() => {
    const reason = overloadReason(error)
    if (reason !== undefined) admission.refused(reason)
  })

const countEnd = ({ meters, nowMs }: Parts, answer: Answer) => {
  const { outcome, plan, samples, startedAtMs } = answer
  const seconds = samples / speechSampleRateHz
  // Like one that was refused before it started: it is neither counted nor billed.
  if (outcome === "refused") return
  meters.ended.inc({ outcome })
  meters.spokenSeconds.inc({ format: plan.format.name }, seconds)
  meters.characters.inc({ model: plan.model.id }, billableCharactersOf(answer))
  if (outcome === "spoken" && seconds > 0) meters.factor.observe({}, (nowMs() - startedAtMs) / 1_000 / seconds)
}

interface StageTimes {
  /** False if the stage was already reached. */
  readonly reached: (stage: string) => boolean
  readonly heard: (firstSoundMs: number) => void
  readonly timing: () => string
}

const stageTimes = ({ meters, nowMs }: Parts, startedAtMs: number): StageTimes => {
  const times = new Map<string, number>()
  let lastAtMs = startedAtMs
  return {
    reached: (stage) => {
      if (times.has(stage)) return false
      const atMs = nowMs()
      times.set(stage, atMs - lastAtMs)
      meters.stages.observe({ stage }, (atMs - lastAtMs) / 1_000)
      lastAtMs = atMs
      return true
    },
    heard: (firstSoundMs) => void times.set("first_sound", firstSoundMs),
    timing: () => [...times].map(([stage, took]) => `${stage};dur=${took.toFixed(1)}`).join(", ")
  }
}

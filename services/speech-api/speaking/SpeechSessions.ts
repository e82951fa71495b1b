/**
 * Has a text spoken: asks the sequencers for a session, returns its frames at the caller's pace, and gives credit as
 * they are taken. A sequencer that falls silent is replaced by another, which continues from the first missing sample.
 * If none is available, because one is restarting, the session waits for it. Two sequencers in a row that deliver
 * nothing end the session. Closing the scope cancels it.
 */
import { Clock, Context, Effect, Layer, Queue, Result, Schedule, Scope, Stream } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import {
  frameCodec,
  SequencerMail,
  SessionAnswer,
  SessionFrameHead,
  SessionRequest,
  type SpokenMark
} from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { InputRefused, SpeechBusy, SpeechFailed } from "../refusals.ts"
import { streamsActive, takeovers } from "../metrics.ts"
import {
  type SessionProgress,
  progressOf,
  idOf,
  type Mail,
  watchEveryMs,
  windowOf,
  type SpeechOrder
} from "./session-progress.ts"
import type { SessionPace } from "./SpeechAdmission.ts"

/** PCM at 24 kHz and the speech marks that became final with it; the last piece often holds only marks. */
interface SpokenPiece {
  readonly pcm: Int16Array
  readonly marks: ReadonlyArray<SpokenMark>
  /** On the last piece: turns that made no sound. */
  readonly silentTurns?: ReadonlyArray<number>
  /** How long the caller waited for the fleet to deliver it. */
  readonly waitedMs: number
}

export interface SpeechSession {
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  readonly pieces: Stream.Stream<SpokenPiece, InputRefused | SpeechFailed>
}

const askWithinMs = 2_000
// With less time than an idle sequencer takes, asking would only cause a needless refusal.
const askWithinMsMin = 250
// Sequencers in a row that deliver no sample: a third would do no better.
const fruitlessMax = 2
// A process restarts in some three seconds, on a busy machine in ten; no listener accepts a longer silence.
const outageMsMax = 10_000
// A busy sequencer has a free slot again as soon as one of its starting sessions has audio buffered.
const askAgainEveryMs = 100
// Four heartbeats of a sequencer.
const silenceMsMax = 1_000

const question = jsonCodec(SessionRequest)
const answer = jsonCodec(SessionAnswer)
const mailCodec = frameCodec(SequencerMail)
const frameIn = frameCodec(SessionFrameHead)
const noPcm = new Int16Array(0)

/** Shared by all sessions of this process. */
interface Shared extends Effect.Success<typeof sharedOf> {}

const sharedOf = Effect.gen(function* () {
  const { SpeechApi } = yield* Configuration
  const clock = yield* Clock.Clock
  const metrics = yield* Metrics
  return {
    requests: yield* Requests,
    mailbox: yield* Mailbox,
    nowMs: () => clock.currentTimeMillisUnsafe(),
    windowBytes: SpeechApi.WindowMegabytes * 1_048_576,
    activeGauge: metrics.gauge(streamsActive),
    takeovers: metrics.counter(takeovers),
    active: 0
  }
})

export class SpeechSessions extends Context.Service<
  SpeechSessions,
  {
    readonly open: (
      order: SpeechOrder,
      pace: SessionPace
    ) => Effect.Effect<SpeechSession, InputRefused | SpeechBusy | SpeechFailed, Scope.Scope>
    readonly active: () => number
  }
>()("starling/speech-api/SpeechSessions") {
  static readonly layer = Layer.effect(
    SpeechSessions,
    Effect.map(sharedOf, (shared) =>
      SpeechSessions.of({ open: (order, pace) => open(shared, order, pace), active: () => shared.active })
    )
  )
}

const open = Effect.fn("SpeechSessions.open")(function* (shared: Shared, order: SpeechOrder, pace: SessionPace) {
  const scope = yield* Effect.scope
  const inbox = yield* Queue.unbounded<Mail>()
  if (order.isBackground === undefined) {
    yield* Effect.acquireRelease(
      Effect.sync(() => shared.activeGauge.set({}, ++shared.active)),
      () => Effect.sync(() => shared.activeGauge.set({}, --shared.active))
    )
  }
  const progress = progressOf({ order, pace, scope, inbox }, windowFor(shared, pace), shared.nowMs())
  const { sentences } = yield* begin(shared, progress, pace.begunByMs)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!progress.isOver) send(shared, progress, { _tag: "Cancel" })
      progress.isOver = true
    })
  )
  const watching = Effect.sync(() => watch(shared, progress))
  yield* Effect.forkScoped(Effect.repeat(watching, Schedule.spaced(watchEveryMs)))
  const session: SpeechSession = { sentences, pieces: Stream.unfold(progress, () => takePiece(shared, progress)) }
  return session
})

/** The next piece, or nothing once the session is over. */
const takePiece = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress) {
  if (progress.isOver) return undefined
  yield* progress.pace.turn
  const askedAtMs = shared.nowMs()
  const piece: SpokenPiece = { ...(yield* next(shared, progress)), waitedMs: shared.nowMs() - askedAtMs }
  progress.consumed = progress.received
  if (progress.consumed - progress.credited >= progress.windowSamples / 4) credit(shared, progress)
  return [piece, progress] as const
})

/** The next piece; at the end it holds only marks. */
const next = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress) {
  for (;;) {
    const { of, frame } = yield* Queue.take(progress.inbox)
    // A replaced attempt can still send frames, beyond the sample from which the next attempt continues.
    if (of !== idOf(progress)) continue
    if (frame === undefined) {
      if (progress.isAbandoned) yield* takeOver(shared, progress, "it sent nothing")
      continue
    }
    const { head, pcm } = frame
    if (head._tag === "Failed") {
      progress.isOver = true
      if (head.faults !== undefined) return yield* new InputRefused({ faults: head.faults })
      return yield* new SpeechFailed({ code: head.code, message: head.message })
    }
    if (head._tag === "End") {
      if (head.totalSamples !== progress.received) {
        yield* takeOver(shared, progress, "its end came before its last samples")
        continue
      }
      progress.isOver = true
      return { pcm, marks: progress.unseen(head.marks), silentTurns: head.silentTurns ?? [] }
    }
    if (head._tag === "Alive") continue
    if (head.sample !== progress.received) {
      yield* takeOver(shared, progress, "a frame is missing")
      continue
    }
    progress.received += pcm.length
    progress.resume = { chunk: head.chunk, chunkStartSample: head.chunkStartSample, fromSample: progress.received }
    return { pcm, marks: progress.unseen(head.marks) }
  }
})

/** Starts with the first sequencer that accepts. Each try is a session of its own, so a late acceptance is ignored. */
const begin = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress, untilMs: () => number) {
  for (;;) {
    const begun = yield* Effect.result(beginOnce(shared, progress, untilMs()))
    if (Result.isSuccess(begun)) return begun.success
    const { failure } = begun
    const isOver = shared.nowMs() + askAgainEveryMs >= untilMs()
    if (failure._tag === "InputRefused" || isOver) return yield* failure
    yield* Effect.sleep(askAgainEveryMs)
  }
})

const beginOnce = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress, untilMs: number) {
  progress.attempt += 1
  const id = idOf(progress)
  progress.sequencer = ""
  yield* Scope.provide(
    shared.mailbox.open(id, (bytes) => receive(shared, progress, { id, bytes })),
    progress.scope
  )
  const accepted = yield* ask(shared, progress, untilMs)
  progress.sequencer = accepted.sequencer
  markAlive(shared, progress)
  return accepted
})

const ask = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress, untilMs: number) {
  const { requests, mailbox, nowMs } = shared
  const { order, resume, pace, fruitless } = progress
  const windowSamples = windowFor(shared, pace)
  const isPromised = fruitless > 0 || pace.mustBegin()
  const request = { ...order, sessionId: idOf(progress), api: mailbox.instance, windowSamples, resume, isPromised }
  const timeoutMs = Math.min(askWithinMs, Math.max(askWithinMsMin, untilMs - nowMs()))
  // The sequencer of this process is asked first, and once: a busy or silent one must not block the others.
  const isAgain = progress.attempt > 0
  const answered = yield* requests
    .ask({ subject: subjects.speechSessions, question, answer, timeoutMs, isAgain }, request)
    .pipe(Effect.mapError((error) => new SpeechBusy({ retryAfterSeconds: 1, detail: error.message })))
  if (answered._tag === "Accepted") return answered
  if (answered._tag === "Refused") return yield* new InputRefused({ faults: answered.faults })
  const { retryAfterSeconds } = answered
  return yield* new SpeechBusy({ retryAfterSeconds, detail: "all are busy" })
})

/** Lets another sequencer continue from the first missing sample. */
const takeOver = Effect.fnUntraced(function* (shared: Shared, progress: SessionProgress, why: string) {
  const { received } = progress
  progress.fruitless = received > progress.tookOverAt ? 0 : progress.fruitless
  if (progress.fruitless >= fruitlessMax) {
    return yield* new SpeechFailed({ code: "upstream_failure", message: "the speech broke off" })
  }
  progress.fruitless += 1
  progress.tookOverAt = received
  send(shared, progress, { _tag: "Cancel" })
  shared.takeovers.inc({})
  yield* Effect.logWarning("a sequencer was lost, another one continues").pipe(Effect.annotateLogs({ why, received }))
  const outageUntilMs = shared.nowMs() + outageMsMax
  yield* begin(shared, progress, () => outageUntilMs).pipe(
    Effect.mapError(() => new SpeechFailed({ code: "service_unavailable", message: "the speech broke off" }))
  )
})

/** Repeats the credit, and abandons a sequencer that has fallen silent. */
const watch = (shared: Shared, progress: SessionProgress) => {
  const { nowMs } = shared
  progress.stall.tick(nowMs())
  if (progress.isOver || progress.sequencer === "") return
  credit(shared, progress)
  if (progress.isAbandoned || !progress.stall.isSilent(progress.lastFrameMs, silenceMsMax, nowMs())) return
  progress.isAbandoned = true
  Queue.offerUnsafe(progress.inbox, { of: idOf(progress) })
}

const receive = (
  shared: Shared,
  progress: SessionProgress,
  { id, bytes }: { readonly id: string; readonly bytes: Uint8Array }
) => {
  const frame = frameIn.decode(bytes)
  if (id !== idOf(progress) || Result.isFailure(frame)) return
  markAlive(shared, progress)
  if (frame.success.head._tag !== "Alive") Queue.offerUnsafe(progress.inbox, { of: id, frame: frame.success })
}

const markAlive = ({ nowMs }: Shared, progress: SessionProgress) => {
  progress.lastFrameMs = progress.stall.awakeMs(nowMs())
  progress.isAbandoned = false
}

const credit = (shared: Shared, progress: SessionProgress) => {
  progress.credited = progress.consumed
  progress.windowSamples = windowFor(shared, progress.pace)
  send(shared, progress, { _tag: "Credit", consumedSamples: progress.consumed, windowSamples: progress.windowSamples })
}

const send = ({ mailbox }: Shared, progress: SessionProgress, head: SequencerMail) => {
  const { sequencer } = progress
  if (sequencer !== "") mailbox.send(sequencer, idOf(progress), mailCodec.encode({ head, pcm: noPcm }))
}

const windowFor = ({ windowBytes, active }: Shared, pace: SessionPace) =>
  Math.min(pace.windowSamplesMax(), windowOf(windowBytes, active))

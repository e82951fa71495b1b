/**
 * Has a text spoken: asks the sequencers for a session, hands out its frames at the caller's pace, and gives credit as
 * they are taken. A sequencer that falls silent is replaced by another, which goes on from the first missing sample.
 * When there is none just now, because one is restarting, the session waits for it. Two sequencers in a row that bring
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
  type WordMark
} from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { type CounterOf, type GaugeHandle, Metrics } from "#runtime"
import { InputRefused, SpeechBusy, SpeechFailed } from "../refusals.ts"
import { streamsActive, takeovers } from "../metrics.ts"
import {
  type Course,
  courseOf,
  idOf,
  type Mail,
  watchEveryMs,
  windowOf,
  type SessionPace,
  type SpeechOrder
} from "./session-course.ts"

/** PCM at 24 kHz and the speech marks that became final with it; the last piece often holds marks alone. */
interface SpokenPiece {
  readonly pcm: Int16Array
  readonly marks: ReadonlyArray<WordMark>
  /** How long the caller waited for the fleet to deliver it. */
  readonly waitedMs: number
}

export interface SpeechSession {
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  readonly pieces: Stream.Stream<SpokenPiece, InputRefused | SpeechFailed>
}

const askWithinMs = 2_000
// With less time than an idle sequencer takes, asking would only bring a needless refusal.
const askWithinMsMin = 250
// Sequencers in a row that deliver no sample: a third would fare no better.
const fruitlessMax = 2
// A process restarts in some three seconds, on a busy machine in ten; no listener accepts a longer silence.
const awayMsMax = 10_000
// A busy sequencer has a place again as soon as one of its beginning sessions has sound in store.
const askAgainEveryMs = 100
// Four heartbeats of a sequencer.
const silenceMsMax = 1_000

const question = jsonCodec(SessionRequest)
const answer = jsonCodec(SessionAnswer)
const mailCodec = frameCodec(SequencerMail)
const frameIn = frameCodec(SessionFrameHead)
const noPcm = new Int16Array(0)

/** State that all sessions of this process share. */
interface Shared {
  readonly requests: Requests["Service"]
  readonly mailbox: Mailbox["Service"]
  readonly nowMs: () => number
  readonly windowBytes: number
  readonly activeGauge: GaugeHandle<never>
  readonly takeovers: CounterOf<typeof takeovers>
  active: number
}

const sharedOf = Effect.gen(function* () {
  const { SpeechApi } = yield* Configuration
  const clock = yield* Clock.Clock
  const metrics = yield* Metrics
  const shared: Shared = {
    requests: yield* Requests,
    mailbox: yield* Mailbox,
    nowMs: () => clock.currentTimeMillisUnsafe(),
    windowBytes: SpeechApi.WindowMegabytes * 1_048_576,
    activeGauge: metrics.gauge(streamsActive),
    takeovers: metrics.counter(takeovers),
    active: 0
  }
  return shared
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
  yield* Effect.acquireRelease(
    Effect.sync(() => shared.activeGauge.set({}, ++shared.active)),
    () => Effect.sync(() => shared.activeGauge.set({}, --shared.active))
  )
  const course = courseOf({ order, pace, scope, inbox }, windowFor(shared, pace), shared.nowMs())
  const { sentences } = yield* begin(shared, course, pace.begunByMs)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!course.isOver) tell(shared, course, { _tag: "Cancel" })
      course.isOver = true
    })
  )
  const watching = Effect.sync(() => watch(shared, course))
  yield* Effect.forkScoped(Effect.repeat(watching, Schedule.spaced(watchEveryMs)))
  const session: SpeechSession = { sentences, pieces: Stream.unfold(course, () => takePiece(shared, course)) }
  return session
})

/** The next piece, or nothing when the session is over. */
const takePiece = Effect.fnUntraced(function* (shared: Shared, course: Course) {
  if (course.isOver) return undefined
  yield* course.pace.turn
  const askedAtMs = shared.nowMs()
  const { pcm, marks } = yield* next(shared, course)
  const piece: SpokenPiece = { pcm, marks, waitedMs: shared.nowMs() - askedAtMs }
  course.consumed = course.received
  if (course.consumed - course.credited >= course.windowSamples / 4) credit(shared, course)
  return [piece, course] as const
})

/** The next piece; at the end it holds marks alone. */
const next = Effect.fnUntraced(function* (shared: Shared, course: Course) {
  for (;;) {
    const { of, frame } = yield* Queue.take(course.inbox)
    // A replaced attempt may still send frames, beyond the sample from which the next attempt goes on.
    if (of !== idOf(course)) continue
    if (frame === undefined) {
      if (course.isGivenUp) yield* takeOver(shared, course, "nothing was heard of it")
      continue
    }
    const { head, pcm } = frame
    if (head._tag === "Failed") {
      course.isOver = true
      if (head.faults !== undefined) return yield* new InputRefused({ faults: head.faults })
      return yield* new SpeechFailed({ code: head.code, message: head.message })
    }
    if (head._tag === "End") {
      if (head.totalSamples !== course.received) {
        yield* takeOver(shared, course, "its end came before its last samples")
        continue
      }
      course.isOver = true
      return { pcm, marks: course.unseen(head.marks) }
    }
    if (head._tag === "Alive") continue
    if (head.sample !== course.received) {
      yield* takeOver(shared, course, "a frame is missing")
      continue
    }
    course.received += pcm.length
    course.resume = { chunk: head.chunk, chunkStartSample: head.chunkStartSample, fromSample: course.received }
    return { pcm, marks: course.unseen(head.marks) }
  }
})

/**
 * Begins with the first sequencer that accepts. Each try is a session of its own: a late acceptance then speaks to
 * nobody.
 */
const begin = Effect.fnUntraced(function* (shared: Shared, course: Course, untilMs: () => number) {
  for (;;) {
    const begun = yield* Effect.result(beginOnce(shared, course, untilMs()))
    if (Result.isSuccess(begun)) return begun.success
    const { failure } = begun
    const isOver = shared.nowMs() + askAgainEveryMs >= untilMs()
    if (failure._tag === "InputRefused" || isOver) return yield* failure
    yield* Effect.sleep(askAgainEveryMs)
  }
})

const beginOnce = Effect.fnUntraced(function* (shared: Shared, course: Course, untilMs: number) {
  course.attempt += 1
  const id = idOf(course)
  course.sequencer = ""
  yield* Scope.provide(
    shared.mailbox.open(id, (bytes) => receive(shared, course, { id, bytes })),
    course.scope
  )
  const accepted = yield* ask(shared, course, untilMs)
  course.sequencer = accepted.sequencer
  heard(shared, course)
  return accepted
})

const ask = Effect.fnUntraced(function* (shared: Shared, course: Course, untilMs: number) {
  const { requests, mailbox, nowMs } = shared
  const { order, resume, pace, fruitless } = course
  const windowSamples = windowFor(shared, pace)
  const isPromised = fruitless > 0 || pace.mustBegin()
  const request = { ...order, sessionId: idOf(course), api: mailbox.instance, windowSamples, resume, isPromised }
  const timeoutMs = Math.min(askWithinMs, Math.max(askWithinMsMin, untilMs - nowMs()))
  // The sequencer of this process is asked first, and once: a busy or silent one must not stand before the others.
  const isAgain = course.attempt > 0
  const answered = yield* requests
    .ask({ subject: subjects.speechSessions, question, answer, timeoutMs, isAgain }, request)
    .pipe(Effect.mapError((error) => new SpeechBusy({ retryAfterSeconds: 1, detail: error.message })))
  if (answered._tag === "Accepted") return answered
  if (answered._tag === "Refused") return yield* new InputRefused({ faults: answered.faults })
  const { retryAfterSeconds } = answered
  return yield* new SpeechBusy({ retryAfterSeconds, detail: "all are busy" })
})

/** Lets another sequencer go on from the first missing sample. */
const takeOver = Effect.fnUntraced(function* (shared: Shared, course: Course, why: string) {
  const { received } = course
  course.fruitless = received > course.tookOverAt ? 0 : course.fruitless
  if (course.fruitless >= fruitlessMax) {
    return yield* new SpeechFailed({ code: "upstream_failure", message: "the speech broke off" })
  }
  course.fruitless += 1
  course.tookOverAt = received
  tell(shared, course, { _tag: "Cancel" })
  shared.takeovers.inc({})
  yield* Effect.logWarning("a sequencer is lost, another goes on").pipe(Effect.annotateLogs({ why, received }))
  const awayUntilMs = shared.nowMs() + awayMsMax
  yield* begin(shared, course, () => awayUntilMs).pipe(
    Effect.mapError(() => new SpeechFailed({ code: "service_unavailable", message: "the speech broke off" }))
  )
})

/** Repeats the credit, and gives up a sequencer that has fallen silent. */
const watch = (shared: Shared, course: Course) => {
  const { nowMs } = shared
  course.stall.tick(nowMs())
  if (course.isOver || course.sequencer === "") return
  credit(shared, course)
  if (course.isGivenUp || !course.stall.isSilent(course.heardAtMs, silenceMsMax, nowMs())) return
  course.isGivenUp = true
  Queue.offerUnsafe(course.inbox, { of: idOf(course) })
}

const receive = (
  shared: Shared,
  course: Course,
  { id, bytes }: { readonly id: string; readonly bytes: Uint8Array }
) => {
  const frame = frameIn.decode(bytes)
  if (id !== idOf(course) || Result.isFailure(frame)) return
  heard(shared, course)
  if (frame.success.head._tag !== "Alive") Queue.offerUnsafe(course.inbox, { of: id, frame: frame.success })
}

const heard = ({ nowMs }: Shared, course: Course) => {
  course.heardAtMs = course.stall.awakeMs(nowMs())
  course.isGivenUp = false
}

const credit = (shared: Shared, course: Course) => {
  course.credited = course.consumed
  course.windowSamples = windowFor(shared, course.pace)
  tell(shared, course, { _tag: "Credit", consumedSamples: course.consumed, windowSamples: course.windowSamples })
}

const tell = ({ mailbox }: Shared, course: Course, head: SequencerMail) => {
  const { sequencer } = course
  if (sequencer !== "") mailbox.send(sequencer, idOf(course), mailCodec.encode({ head, pcm: noPcm }))
}

const windowFor = ({ windowBytes, active }: Shared, pace: SessionPace) =>
  Math.min(pace.windowSamplesMax(), windowOf(windowBytes, active))

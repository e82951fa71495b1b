/**
 * Has a text spoken: asks the sequencers for a session, hands out its frames at the caller's pace, and gives
 * credit as they are taken. A sequencer that falls silent is replaced by another, which goes on from the
 * first sample that is missing, and when there is none just now, for one is being restarted, it is waited for. Two
 * sequencers in a row that bring nothing are the end. Closing the scope cancels the session.
 */
import { Clock, Context, Effect, Layer, Queue, Result, Schedule, Scope, Stream } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import {
  frameCodec,
  SequencerMail,
  SessionAnswer,
  SessionFrameHead,
  SessionRequest,
  type SpeechTurn,
  subjects,
  type WordMark
} from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { InputRefused, SpeechBusy, SpeechFailed } from "./refusals.ts"
import { streamsActive, takeovers } from "../metrics.ts"
import type { Pace } from "./SpeechAdmission.ts"
import { type Course, courseOf, idOf, type Mail, watchEveryMs, windowOf } from "./session-course.ts"

export interface SpeechOrder {
  readonly turns: ReadonlyArray<SpeechTurn>
  readonly textNormalization: boolean
}

/** What its caller lets it do. */
export type SessionPace = Pick<Pace, "turn" | "windowSamplesMax" | "begunByMs">

/** PCM at 24 kHz and the marks that became final with it; the last piece is often marks alone. */
export interface SpokenPiece {
  readonly pcm: Int16Array
  readonly marks: ReadonlyArray<WordMark>
  /** How long the fleet let its caller wait for it. */
  readonly waitedMs: number
}

export interface SpeechSession {
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  readonly pieces: Stream.Stream<SpokenPiece, SpeechFailed>
}

const askWithinMs = 2_000
// Less than it takes an idle sequencer would refuse for nothing.
const askWithinMsMin = 250
// In a row, without a sample from either: what two could not speak, a third cannot.
const fruitlessMax = 2
// A process is started anew in some three seconds, by a busy machine in ten; nobody listens to silence for longer.
const awayMsMax = 10_000
// Those that are busy have a place again as soon as one of the sessions that begin just now has sound in store.
const askAgainEveryMs = 100
// Four heartbeats of a sequencer.
const silenceMsMax = 1_000

const question = jsonCodec(SessionRequest)
const answer = jsonCodec(SessionAnswer)
const mailCodec = frameCodec(SequencerMail)
const frameIn = frameCodec(SessionFrameHead)
const noPcm = new Int16Array(0)

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
    Effect.gen(function* () {
      const { SpeechApi } = yield* Configuration
      const requests = yield* Requests
      const mailbox = yield* Mailbox
      const clock = yield* Clock.Clock
      const metrics = yield* Metrics
      const activeGauge = metrics.gauge(streamsActive)
      const taken = metrics.counter(takeovers)
      const windowBytes = SpeechApi.WindowMegabytes * 1_048_576
      let active = 0

      const windowFor = (pace: SessionPace) => Math.min(pace.windowSamplesMax(), windowOf(windowBytes, active))
      const nowMs = () => clock.currentTimeMillisUnsafe()

      const ask = Effect.fnUntraced(function* (course: Course, untilMs: number) {
        const { order, resume, pace } = course
        const windowSamples = windowFor(pace)
        const request = { ...order, sessionId: idOf(course), api: mailbox.instance, windowSamples, resume }
        const timeoutMs = Math.min(askWithinMs, Math.max(askWithinMsMin, untilMs - nowMs()))
        const answered = yield* requests
          .ask({ subject: subjects.speechSessions, question, answer, timeoutMs }, request)
          .pipe(Effect.mapError((error) => new SpeechBusy({ retryAfterSeconds: 1, detail: error.message })))
        if (answered._tag === "Accepted") return answered
        if (answered._tag === "Refused") return yield* new InputRefused({ faults: answered.faults })
        const { retryAfterSeconds } = answered
        return yield* new SpeechBusy({ retryAfterSeconds, detail: "all are busy" })
      })

      const tell = (course: Course, head: SequencerMail) => {
        const { sequencer } = course
        if (sequencer !== "") mailbox.send(sequencer, idOf(course), mailCodec.encode({ head, pcm: noPcm }))
      }
      const credit = (course: Course) => {
        course.credited = course.consumed
        course.windowSamples = windowFor(course.pace)
        tell(course, { _tag: "Credit", consumedSamples: course.consumed, windowSamples: course.windowSamples })
      }
      const heard = (course: Course) => {
        course.heardAtMs = course.stall.awakeMs(nowMs())
        course.isGivenUp = false
      }
      const receive = (course: Course, id: string, bytes: Uint8Array) => {
        const frame = frameIn.decode(bytes)
        if (id !== idOf(course) || Result.isFailure(frame)) return
        heard(course)
        if (frame.success.head._tag !== "Alive") Queue.offerUnsafe(course.inbox, { of: id, frame: frame.success })
      }

      const beginOnce = Effect.fnUntraced(function* (course: Course, untilMs: number) {
        course.attempt += 1
        const id = idOf(course)
        course.sequencer = ""
        yield* Scope.provide(
          mailbox.open(id, (bytes) => receive(course, id, bytes)),
          course.scope
        )
        const accepted = yield* ask(course, untilMs)
        course.sequencer = accepted.sequencer
        heard(course)
        return accepted
      })

      /** With whoever takes it first. Each try is a session of its own: one that answers too late speaks to nobody. */
      const begin = Effect.fnUntraced(function* (course: Course, untilMs: () => number) {
        for (;;) {
          const begun = yield* Effect.result(beginOnce(course, untilMs()))
          if (Result.isSuccess(begun)) return begun.success
          const { failure } = begun
          const isOver = nowMs() + askAgainEveryMs >= untilMs()
          if (failure._tag === "InputRefused" || isOver) return yield* Effect.fail(failure)
          yield* Effect.sleep(askAgainEveryMs)
        }
      })

      const takeOver = Effect.fnUntraced(function* (course: Course, why: string) {
        const { received } = course
        course.fruitless = received > course.tookOverAt ? 0 : course.fruitless
        if (course.fruitless >= fruitlessMax) {
          return yield* new SpeechFailed({ code: "upstream_failure", message: "the speech broke off" })
        }
        course.fruitless += 1
        course.tookOverAt = received
        tell(course, { _tag: "Cancel" })
        taken.inc({})
        yield* Effect.logWarning("a sequencer is lost, another goes on").pipe(Effect.annotateLogs({ why, received }))
        const awayUntilMs = nowMs() + awayMsMax
        yield* begin(course, () => awayUntilMs).pipe(
          Effect.mapError(() => new SpeechFailed({ code: "service_unavailable", message: "the speech broke off" }))
        )
      })

      const watch = (course: Course) => {
        course.stall.tick(nowMs())
        if (course.isOver || course.sequencer === "") return
        credit(course)
        if (course.isGivenUp || !course.stall.isSilent(course.heardAtMs, silenceMsMax, nowMs())) return
        course.isGivenUp = true
        Queue.offerUnsafe(course.inbox, { of: idOf(course) })
      }

      /** What comes next; at the end marks alone. */
      const next = Effect.fnUntraced(function* (course: Course) {
        for (;;) {
          const { of, frame } = yield* Queue.take(course.inbox)
          // What a replaced attempt still sent is beyond the sample that the next one was asked to go on from.
          if (of !== idOf(course)) continue
          if (frame === undefined) {
            if (course.isGivenUp) yield* takeOver(course, "nothing was heard of it")
            continue
          }
          const { head, pcm } = frame
          if (head._tag === "Failed") {
            course.isOver = true
            return yield* new SpeechFailed({ code: head.code, message: head.message })
          }
          if (head._tag === "End") {
            if (head.totalSamples !== course.received) {
              yield* takeOver(course, "its end came before its last samples")
              continue
            }
            course.isOver = true
            return { pcm, marks: course.unseen(head.marks) }
          }
          if (head._tag === "Alive") continue
          if (head.sample !== course.received) {
            yield* takeOver(course, "a frame is missing")
            continue
          }
          course.received += pcm.length
          course.resume = { chunk: head.chunk, chunkStartSample: head.chunkStartSample, fromSample: course.received }
          return { pcm, marks: course.unseen(head.marks) }
        }
      })

      const takePiece = Effect.fnUntraced(function* (course: Course) {
        if (course.isOver) return undefined
        yield* course.pace.turn
        const askedAtMs = nowMs()
        const { pcm, marks } = yield* next(course)
        const piece: SpokenPiece = { pcm, marks, waitedMs: nowMs() - askedAtMs }
        course.consumed = course.received
        if (course.consumed - course.credited >= course.windowSamples / 4) credit(course)
        return [piece, course] as const
      })

      const open = Effect.fn("SpeechSessions.open")(function* (order: SpeechOrder, pace: SessionPace) {
        const scope = yield* Effect.scope
        const inbox = yield* Queue.unbounded<Mail>()
        yield* Effect.acquireRelease(
          Effect.sync(() => activeGauge.set({}, ++active)),
          () => Effect.sync(() => activeGauge.set({}, --active))
        )
        const course = courseOf({ order, pace, scope, inbox }, windowFor(pace), nowMs())
        const { sentences } = yield* begin(course, pace.begunByMs)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            if (!course.isOver) tell(course, { _tag: "Cancel" })
            course.isOver = true
          })
        )
        const watching = Effect.sync(() => watch(course))
        yield* Effect.forkScoped(Effect.repeat(watching, Schedule.spaced(watchEveryMs)))
        const session: SpeechSession = { sentences, pieces: Stream.unfold(course, takePiece) }
        return session
      })
      return SpeechSessions.of({ open, active: () => active })
    })
  )
}

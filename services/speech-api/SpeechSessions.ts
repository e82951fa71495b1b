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
  type ResumePoint,
  SequencerMail,
  SessionAnswer,
  SessionFrameHead,
  SessionRequest,
  type SpeechTurn,
  subjects,
  type WordMark
} from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { windowOf } from "./credit.ts"
import { InputRefused, SpeechBusy, SpeechFailed } from "./errors.ts"
import { streamsActive, takeovers } from "./metrics.ts"
import { type Course, courseOf, idOf, type Mail, watchEveryMs } from "./session-course.ts"

export interface SpeechOrder {
  readonly turns: ReadonlyArray<SpeechTurn>
  readonly textNormalization: boolean
}

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
const busyTriesMax = 3
// In a row, without a sample from either: what two could not speak, a third cannot.
const fruitlessMax = 2
// A process is started anew in some three seconds, by a busy machine in ten; nobody listens to silence for longer.
const awayMsMax = 10_000
const askAgainEveryMs = 250
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
      order: SpeechOrder
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

      const ask = Effect.fnUntraced(function* (sessionId: string, order: SpeechOrder, resume: ResumePoint | null) {
        const request = {
          ...order,
          sessionId,
          api: mailbox.instance,
          windowSamples: windowOf(windowBytes, active),
          resume
        }
        const once = requests
          .ask({ subject: subjects.speechSessions, question, answer, timeoutMs: askWithinMs }, request)
          .pipe(Effect.mapError((error) => new SpeechBusy({ retryAfterSeconds: 1, detail: error.message })))
        for (let tried = 1; ; tried++) {
          const answered = yield* once
          if (answered._tag === "Accepted") return answered
          if (answered._tag === "Refused") return yield* new InputRefused({ faults: answered.faults })
          const { retryAfterSeconds } = answered
          if (tried === busyTriesMax) return yield* new SpeechBusy({ retryAfterSeconds, detail: "all are busy" })
        }
      })

      const tell = (course: Course, head: SequencerMail) => {
        const { sequencer } = course
        if (sequencer !== "") mailbox.send(sequencer, idOf(course), mailCodec.encode({ head, pcm: noPcm }))
      }
      const credit = (course: Course) => {
        course.credited = course.consumed
        course.windowSamples = windowOf(windowBytes, active)
        tell(course, { _tag: "Credit", consumedSamples: course.consumed, windowSamples: course.windowSamples })
      }
      const heard = (course: Course) => {
        course.heardAtMs = course.stall.awakeMs(clock.currentTimeMillisUnsafe())
        course.isGivenUp = false
      }
      const receive = (course: Course, id: string, bytes: Uint8Array) => {
        const frame = frameIn.decode(bytes)
        if (id !== idOf(course) || Result.isFailure(frame)) return
        heard(course)
        if (frame.success.head._tag !== "Alive") Queue.offerUnsafe(course.inbox, { of: id, frame: frame.success })
      }

      const begin = Effect.fnUntraced(function* (course: Course) {
        const id = idOf(course)
        course.sequencer = ""
        yield* Scope.provide(
          mailbox.open(id, (bytes) => receive(course, id, bytes)),
          course.scope
        )
        const accepted = yield* ask(id, course.order, course.resume)
        course.sequencer = accepted.sequencer
        heard(course)
        return accepted
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
        yield* beginAgain(course).pipe(
          Effect.mapError(() => new SpeechFailed({ code: "service_unavailable", message: "the speech broke off" }))
        )
      })

      /** With whoever takes it first. Each try is a session of its own: one that answers too late speaks to nobody. */
      const beginAgain = Effect.fnUntraced(function* (course: Course) {
        const untilMs = clock.currentTimeMillisUnsafe() + awayMsMax
        for (;;) {
          course.attempt += 1
          const begun = yield* Effect.result(begin(course))
          if (Result.isSuccess(begun)) return
          const { failure } = begun
          const isOver = clock.currentTimeMillisUnsafe() >= untilMs
          if (failure._tag === "InputRefused" || isOver) return yield* Effect.fail(failure)
          yield* Effect.sleep(askAgainEveryMs)
        }
      })

      const watch = (course: Course) => {
        const nowMs = clock.currentTimeMillisUnsafe()
        course.stall.tick(nowMs)
        if (course.isOver || course.sequencer === "") return
        credit(course)
        if (course.isGivenUp || !course.stall.isSilent(course.heardAtMs, silenceMsMax, nowMs)) return
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
        const askedAtMs = clock.currentTimeMillisUnsafe()
        const { pcm, marks } = yield* next(course)
        const piece: SpokenPiece = { pcm, marks, waitedMs: clock.currentTimeMillisUnsafe() - askedAtMs }
        course.consumed = course.received
        if (course.consumed - course.credited >= course.windowSamples / 4) credit(course)
        return [piece, course] as const
      })

      const open = Effect.fn("SpeechSessions.open")(function* (order: SpeechOrder) {
        const scope = yield* Effect.scope
        const inbox = yield* Queue.unbounded<Mail>()
        yield* Effect.acquireRelease(
          Effect.sync(() => activeGauge.set({}, ++active)),
          () => Effect.sync(() => activeGauge.set({}, --active))
        )
        const nowMs = clock.currentTimeMillisUnsafe()
        const course = courseOf({ order, scope, inbox }, windowOf(windowBytes, active), nowMs)
        const { sentences } = yield* begin(course)
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

/**
 * Has a text spoken: asks the sequencers for a session, hands out its frames at the caller's pace, and gives
 * credit as they are taken. A sequencer that falls silent is replaced by another, which goes on from the
 * first sample that is missing; that happens twice at most. Closing the scope cancels the session.
 */
import { Clock, Context, Effect, Layer, Queue, Result, Schedule, Scope, Stream } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import {
  type Frame,
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
import { newestMarks } from "./newest-marks.ts"
import { streamsActive, takeovers } from "./metrics.ts"

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
const takeoversMax = 2
// Four heartbeats of a sequencer.
const silenceMsMax = 1_000
const tickMs = 250

const question = jsonCodec(SessionRequest)
const answer = jsonCodec(SessionAnswer)
const mailCodec = frameCodec(SequencerMail)
const frameIn = frameCodec(SessionFrameHead)
const noPcm = new Int16Array(0)

/** A frame of one attempt; without one, that nothing was heard of it. */
interface Mail {
  readonly of: string
  readonly frame?: Frame<SessionFrameHead>
}

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

      const open = Effect.fn("SpeechSessions.open")(function* (order: SpeechOrder) {
        const base = crypto.randomUUID()
        const scope = yield* Effect.scope
        const inbox = yield* Queue.unbounded<Mail>()
        const unseen = newestMarks()
        yield* Effect.acquireRelease(
          Effect.sync(() => activeGauge.set({}, ++active)),
          () => Effect.sync(() => activeGauge.set({}, --active))
        )
        let attempt = 0
        let sequencer = ""
        let received = 0
        let consumed = 0
        let credited = 0
        let windowSamples = windowOf(windowBytes, active)
        let resume: ResumePoint | null = null
        let heardAtMs = clock.currentTimeMillisUnsafe()
        let watchedAtMs = heardAtMs
        let isGivenUp = false
        let isOver = false

        const sessionId = () => `${base}-${attempt}`
        const tell = (head: SequencerMail) => {
          if (sequencer !== "") mailbox.send(sequencer, sessionId(), mailCodec.encode({ head, pcm: noPcm }))
        }
        const credit = () => {
          credited = consumed
          windowSamples = windowOf(windowBytes, active)
          tell({ _tag: "Credit", consumedSamples: consumed, windowSamples })
        }
        const receive = (id: string) => (bytes: Uint8Array) => {
          const frame = frameIn.decode(bytes)
          if (id !== sessionId() || Result.isFailure(frame)) return
          heardAtMs = clock.currentTimeMillisUnsafe()
          isGivenUp = false
          if (frame.success.head._tag !== "Alive") Queue.offerUnsafe(inbox, { of: id, frame: frame.success })
        }
        const begin = Effect.fnUntraced(function* () {
          sequencer = ""
          yield* Scope.provide(mailbox.open(sessionId(), receive(sessionId())), scope)
          const accepted = yield* ask(sessionId(), order, resume)
          sequencer = accepted.sequencer
          heardAtMs = clock.currentTimeMillisUnsafe()
          isGivenUp = false
          return accepted
        })

        const takeOver = Effect.fnUntraced(function* (why: string) {
          if (attempt >= takeoversMax) {
            return yield* new SpeechFailed({ code: "upstream_failure", message: "the speech broke off" })
          }
          tell({ _tag: "Cancel" })
          attempt += 1
          taken.inc({})
          yield* Effect.logWarning("a sequencer is lost, another goes on").pipe(Effect.annotateLogs({ why, received }))
          yield* begin().pipe(
            Effect.mapError(() => new SpeechFailed({ code: "service_unavailable", message: "the speech broke off" }))
          )
        })

        const watch = Effect.sync(() => {
          const nowMs = clock.currentTimeMillisUnsafe()
          const lateMs = nowMs - watchedAtMs - tickMs
          watchedAtMs = nowMs
          if (isOver || sequencer === "") return
          credit()
          // When we stood still ourselves, what came meanwhile is not read yet.
          if (lateMs > tickMs) heardAtMs = Math.min(nowMs, heardAtMs + lateMs)
          if (isGivenUp || nowMs - heardAtMs <= silenceMsMax) return
          isGivenUp = true
          Queue.offerUnsafe(inbox, { of: sessionId() })
        })

        /** The next piece, or nothing at the end. */
        const next = Effect.gen(function* () {
          for (;;) {
            const { of, frame } = yield* Queue.take(inbox)
            // What a replaced attempt still sent is beyond the sample that the next one was asked to go on from.
            if (of !== sessionId()) continue
            if (frame === undefined) {
              if (isGivenUp) yield* takeOver("nothing was heard of it")
              continue
            }
            const { head, pcm } = frame
            if (head._tag === "Failed") {
              isOver = true
              return yield* new SpeechFailed({ code: head.code, message: head.message })
            }
            if (head._tag === "End") {
              if (head.totalSamples !== received) {
                yield* takeOver("its end came before its last samples")
                continue
              }
              isOver = true
              return { pcm, marks: unseen(head.marks) }
            }
            if (head._tag === "Alive") continue
            if (head.sample !== received) {
              yield* takeOver("a frame is missing")
              continue
            }
            received += pcm.length
            resume = { chunk: head.chunk, chunkStartSample: head.chunkStartSample, fromSample: received }
            return { pcm, marks: unseen(head.marks) }
          }
        })

        const pieces = Stream.unfold(undefined, () =>
          Effect.gen(function* () {
            if (isOver) return undefined
            const askedAtMs = clock.currentTimeMillisUnsafe()
            const { pcm, marks } = yield* next
            const piece: SpokenPiece = { pcm, marks, waitedMs: clock.currentTimeMillisUnsafe() - askedAtMs }
            consumed = received
            if (consumed - credited >= windowSamples / 4) credit()
            return [piece, undefined] as const
          })
        )

        const accepted = yield* begin()
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            if (!isOver) tell({ _tag: "Cancel" })
            isOver = true
          })
        )
        yield* Effect.forkScoped(Effect.repeat(watch, Schedule.spaced(tickMs)))
        const session: SpeechSession = { sentences: accepted.sentences, pieces }
        return session
      })
      return SpeechSessions.of({ open, active: () => active })
    })
  )
}

/**
 * Takes up sessions: a request on `speech.sessions` is answered at once, accepted with the sentences of its
 * input, refused with the faults of it, or busy. What is accepted is spoken in a fiber of its own.
 */
import { Clock, Context, Effect, FiberSet, Layer, Result } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import { SessionAnswer, SessionRequest, subjects } from "#contracts"
import { Configuration, Drain, Health, loopLateness, Metrics } from "#runtime"
import { admit, type AdmissionLimits, type Listener, listeners } from "#speech"
import { sessionsActive, sessionsEnded, sessionsRefused } from "./metrics.ts"
import { readScript, type Script } from "./script.ts"
import { runSession } from "./SequencerSession.ts"

// Reading 20,000 characters takes some 20 ms of one thread; more at once would only queue.
const readingMax = 8
// A new session is worth a try when the shortest ones have ended.
const retryAfterSeconds = 1
const drainPatience = "25 seconds"

export class Sequencer extends Context.Service<Sequencer, { readonly active: () => number }>()(
  "starling/speech-sequencer/Sequencer"
) {
  static readonly layer = Layer.effect(
    Sequencer,
    Effect.gen(function* () {
      const { SpeechSequencer } = yield* Configuration
      const requests = yield* Requests
      const mailbox = yield* Mailbox
      const metrics = yield* Metrics
      const active = metrics.gauge(sessionsActive)
      const ended = metrics.counter(sessionsEnded)
      const refused = metrics.counter(sessionsRefused)
      const late = yield* loopLateness
      const clock = yield* Clock.Clock
      const nowMs = () => clock.currentTimeMillisUnsafe()
      const book = listeners()
      // It decides at once: who is sent away may ask another one, and waits where it was asked for the speech.
      const limits: AdmissionLimits = {
        youngMax: SpeechSequencer.BeginningsAtOnce,
        decideWithinMs: 0,
        beginWithinMs: 0,
        waitingMax: 0
      }
      const sessions = yield* FiberSet.make()
      let count = 0
      let isDraining = false

      const speak = (request: SessionRequest, script: Script, listener: Listener) =>
        runSession(request, script, listener).pipe(
          Effect.tap((outcome) => Effect.sync(() => ended.inc({ outcome }))),
          Effect.catchCause((cause) =>
            Effect.andThen(
              Effect.sync(() => ended.inc({ outcome: "failed" })),
              Effect.logError("a session ended badly", cause)
            )
          ),
          Effect.ensuring(
            Effect.sync(() => {
              listener.leave(nowMs())
              active.set({}, --count)
            })
          ),
          Effect.annotateLogs({ session: request.sessionId })
        )

      const busyFor = ({ resume }: SessionRequest, group: string) => {
        if (isDraining) return { reason: "draining", retryAfterSeconds }
        if (count >= SpeechSequencer.SessionsMax) return { reason: "sessions", retryAfterSeconds }
        // Its listener is in the middle of it, and has nobody else.
        if (resume !== null) return undefined
        const load = { ...book.load(group, nowMs()), lateMs: late() }
        const verdict = admit(load, { ahead: 0, waitedMs: 0, isPromised: false, sentAway: 0 }, limits)
        return verdict._tag === "Refuse" ? verdict : undefined
      }

      const answer = Effect.fnUntraced(function* (request: SessionRequest): Effect.fn.Return<SessionAnswer> {
        const group = request.turns[0]?.voice.engine ?? ""
        const busy = busyFor(request, group)
        if (busy !== undefined) {
          ended.inc({ outcome: "busy" })
          refused.inc({ reason: busy.reason })
          return { _tag: "Busy", retryAfterSeconds: busy.retryAfterSeconds }
        }
        const script = readScript(request)
        if (Result.isFailure(script)) {
          ended.inc({ outcome: "refused" })
          return { _tag: "Refused", faults: script.failure }
        }
        active.set({}, ++count)
        const listener = book.enter({ group, nowMs: nowMs(), plays: true })
        yield* FiberSet.run(sessions, speak(request, script.success, listener).pipe(Effect.provide(services)))
        return { _tag: "Accepted", sequencer: mailbox.instance, sentences: script.success.sentences }
      })
      const services = yield* Effect.context<Effect.Services<ReturnType<typeof runSession>>>()

      yield* requests.answer({
        subject: subjects.speechSessions,
        queueGroup: "speech-sequencer",
        question: jsonCodec(SessionRequest),
        answer: jsonCodec(SessionAnswer),
        concurrency: readingMax,
        handler: answer
      })
      yield* (yield* Health).readiness("speech-sequencer", Effect.void)
      yield* (yield* Drain).register(
        "speech-sequencer",
        Effect.gen(function* () {
          isDraining = true
          const before = count
          yield* Effect.timeoutOption(FiberSet.awaitEmpty(sessions), drainPatience)
          const left = count
          yield* FiberSet.clear(sessions)
          return { finished: before - left, handedBack: left }
        })
      )
      return Sequencer.of({ active: () => count })
    })
  )
}

/**
 * Takes up sessions: a request on `speech.sessions` is answered at once, accepted with the sentences of its
 * input, refused with the faults of it, or busy. What is accepted is spoken in a fiber of its own.
 */
import { Context, Effect, FiberSet, Layer, Result } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import { SessionAnswer, SessionRequest, subjects } from "#contracts"
import { Configuration, Drain, Health, Metrics } from "#runtime"
import { sessionsActive, sessionsEnded } from "./metrics.ts"
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
      const sessions = yield* FiberSet.make()
      let count = 0
      let isDraining = false

      const speak = (request: SessionRequest, script: Script) =>
        runSession(request, script).pipe(
          Effect.tap((outcome) => Effect.sync(() => ended.inc({ outcome }))),
          Effect.catchCause((cause) =>
            Effect.andThen(
              Effect.sync(() => ended.inc({ outcome: "failed" })),
              Effect.logError("a session ended badly", cause)
            )
          ),
          Effect.ensuring(Effect.sync(() => active.set({}, --count))),
          Effect.annotateLogs({ session: request.sessionId })
        )

      const answer = Effect.fnUntraced(function* (request: SessionRequest): Effect.fn.Return<SessionAnswer> {
        if (isDraining || count >= SpeechSequencer.SessionsMax) {
          ended.inc({ outcome: "busy" })
          return { _tag: "Busy", retryAfterSeconds }
        }
        const script = readScript(request)
        if (Result.isFailure(script)) {
          ended.inc({ outcome: "refused" })
          return { _tag: "Refused", faults: script.failure }
        }
        active.set({}, ++count)
        yield* FiberSet.run(sessions, speak(request, script.success).pipe(Effect.provide(services)))
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

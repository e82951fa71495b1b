/**
 * The role speech-sequencer.
 *
 * in: requests on `speech.sessions` (queue group), frames and credit on `speech.to.<instance>.<session>`
 * out: `speech.chunks.<engine>`, frames to `speech.to.<speech-api>.<session>`
 * state: none that outlives a session; a session whose sequencer dies is resumed by speech-api elsewhere
 * failure policy: a chunk that no synthesizer delivers is requested again, six times in all, then the session fails; a
 * client that sends no credit for 2 s is dropped; a full sequencer answers busy at once; sessions that nobody listens to
 * take no room from the others, and no part in their admission
 */
import { Clock, Effect, FiberSet, Layer, Result } from "effect"
import { jsonCodec, Mailbox, Requests } from "#bus"
import { SessionAnswer, SessionRequest } from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain, Health, loopLateness, Metrics } from "#runtime"
import { admit, type Listener, listeners, soundMsOf } from "#speech"
import { sessionsActive, sessionsEnded, sessionsRefused } from "./metrics.ts"
import { readScript, type Script } from "./playout.ts"
import { runSession } from "./session.ts"
import { checkSpeech } from "./speech-check.ts"

// A crowd that starts within this process needs no broker, whose connection it would share with all audio.
// Reading 20,000 characters takes some 20 ms of one thread; more at once would only queue.
const readingMax = 32
// By then the shortest sessions have ended, so a new one has a chance.
const retryAfterSeconds = 1
// Sessions that nobody listens to. Each has up to three chunks in the synthesizers' hands, which take 1,000 of an engine.
const backgroundMax = 32
const drainPatience = "25 seconds"

/** Needs the bus and the runtime. */
export const speechSequencer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sequencer = yield* sequencerOf
    yield* (yield* Requests).answer({
      subject: subjects.speechSessions,
      queueGroup: "speech-sequencer",
      question: jsonCodec(SessionRequest),
      answer: jsonCodec(SessionAnswer),
      concurrency: readingMax,
      handler: (request) => answer(sequencer, request)
    })
    yield* (yield* Health).readiness("speech-sequencer", Effect.void)
    yield* (yield* Drain).register("speech-sequencer", drain(sequencer))
  })
)

/** The sessions of this process, and the admission that decides whether another one can begin. */
interface Sequencer extends Effect.Success<typeof sequencerOf> {}

const sequencerOf = Effect.gen(function* () {
  const { SpeechSequencer } = yield* Configuration
  const metrics = yield* Metrics
  const clock = yield* Clock.Clock
  return {
    instance: (yield* Mailbox).instance,
    sessions: yield* FiberSet.make(),
    sessionsMax: SpeechSequencer.SessionsMax,
    // Admission decides at once: a refused speech-api tries another sequencer, and its caller waits there.
    limits: { awaitingMax: SpeechSequencer.BeginningsAtOnce, decideWithinMs: 0, beginWithinMs: 0, waitingMax: 0 },
    listening: listeners(),
    /** No admission looks at these. */
    background: listeners(),
    lateMs: yield* loopLateness,
    nowMs: () => clock.currentTimeMillisUnsafe(),
    active: metrics.gauge(sessionsActive),
    ended: metrics.counter(sessionsEnded),
    refused: metrics.counter(sessionsRefused),
    worked: yield* checkSpeech,
    counts: { background: 0, listening: 0 },
    isDraining: false
  }
})

/** Answers at once: accepted with the sentences of its input, refused with their faults, or busy. */
const answer = Effect.fnUntraced(function* (sequencer: Sequencer, request: SessionRequest) {
  const { ended, nowMs, refused, sessions } = sequencer
  const engine = request.turns[0]?.voice.engine ?? ""
  const kind = kindOf(request)
  const busy = busyFor(sequencer, request, engine)
  if (busy !== undefined) {
    // What waits in the background asks again and again, and nobody is refused.
    if (kind === "listening") {
      ended.inc({ outcome: "busy" })
      refused.inc({ reason: busy.reason })
    }
    return { _tag: "Busy", retryAfterSeconds: busy.retryAfterSeconds } as const
  }
  const script = readScript(request)
  if (Result.isFailure(script)) {
    ended.inc({ outcome: "refused" })
    return { _tag: "Refused", faults: script.failure } as const
  }
  count(sequencer, kind, 1)
  const plays = kind === "listening"
  const listener = sequencer[kind].enter({ engine, nowMs: nowMs(), plays, soundMs: soundMsOf(request.turns) })
  yield* FiberSet.run(sessions, speak(sequencer, { request, script: script.success, listener }))
  // Its requests leave with this turn of the event loop: a caller in this process continues after that.
  yield* Effect.yieldNow
  return { _tag: "Accepted", sequencer: sequencer.instance, sentences: script.success.sentences } as const
})

const kindOf = ({ isBackground }: SessionRequest) => (isBackground === true ? "background" : "listening")

const count = ({ active, counts }: Sequencer, kind: ReturnType<typeof kindOf>, by: 1 | -1) => {
  counts[kind] += by
  active.set({}, counts.background + counts.listening)
}

const busyFor = (sequencer: Sequencer, request: SessionRequest, engine: string) => {
  const { counts, isDraining, lateMs, limits, listening, nowMs, sessionsMax } = sequencer
  const { isPromised, resume } = request
  const kind = kindOf(request)
  if (isDraining) return { reason: "draining", retryAfterSeconds } as const
  if (counts[kind] >= { background: backgroundMax, listening: sessionsMax }[kind])
    return { reason: "sessions", retryAfterSeconds } as const
  if (kind === "background") return undefined
  // The listener of a resumed session is in the middle of it; the caller of a promised one can no longer be refused in
  // time.
  if (resume !== null || isPromised === true) return undefined
  const load = { ...listening.load(engine, nowMs()), lateMs: lateMs() }
  const verdict = admit(load, { ahead: 0, waitedMs: 0, isPromised: false, recentlyRefused: 0 }, limits)
  return verdict._tag === "Refuse" ? verdict : undefined
}

interface Accepted {
  readonly request: SessionRequest
  readonly script: Script
  readonly listener: Listener
}

const speak = (sequencer: Sequencer, { request, script, listener }: Accepted) =>
  runSession(request, script, listener).pipe(
    Effect.tap((outcome) =>
      Effect.sync(() => {
        sequencer.ended.inc({ outcome })
        if (outcome === "spoken") sequencer.worked()
      })
    ),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.sync(() => sequencer.ended.inc({ outcome: "failed" })),
        Effect.logError("a session ended badly", cause)
      )
    ),
    Effect.ensuring(
      Effect.sync(() => {
        listener.leave(sequencer.nowMs())
        count(sequencer, kindOf(request), -1)
      })
    ),
    Effect.annotateLogs({ session: request.sessionId })
  )

const drain = (sequencer: Sequencer) =>
  Effect.gen(function* () {
    sequencer.isDraining = true
    const before = yield* FiberSet.size(sequencer.sessions)
    yield* Effect.timeoutOption(FiberSet.awaitEmpty(sequencer.sessions), drainPatience)
    const left = yield* FiberSet.size(sequencer.sessions)
    yield* FiberSet.clear(sequencer.sessions)
    return { finished: before - left, handedBack: left }
  })

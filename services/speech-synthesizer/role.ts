/**
 * The role speech-synthesizer.
 *
 * in: `speech.chunks.<engine>` (SPEECH, a consumer per engine shared by all replicas), cancels on its mailbox, and with
 * a zero-shot model the recordings of `voice-samples`
 * out: PCM and word starts to `speech.to.<sequencer>.<session>`; KV `speech-engines`, which engines can speak
 * state: none; a job is acked once all of it is sent
 * failure policy: a dead process's jobs go to another after 1 s; a job that an engine cannot make is reported to the
 * sequencer, which requests it again or fails; an engine that cannot speak takes no jobs; a crash of an engine thread
 * fails only its job; the jobs of a cancelled session end within one callback of the engine; a chunk of a session that
 * nobody listens to is spoken while no other chunk needs the engine, and begins again when one did
 */
import { Cause, Clock, Deferred, Effect, Layer, Schedule, Stream, SubscriptionRef } from "effect"
import { ack, type AckDecision, consume, type Consumption, drainAll, jsonCodec, Mailbox, type Received } from "#bus"
import { ChunkJob, frameCodec, frameSamplesMax, SequencerMail } from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain, Metrics, supervise, type Worked } from "#runtime"
import type { EngineFrame, EngineJob, SpeechEngine } from "#speech"
import { Engines, announceEngineStates, References } from "./Engines.ts"
import { checkEngine } from "./engine-check.ts"
import { chunksWaiting } from "./metrics.ts"
import { type PrioritySemaphore, prioritySemaphore } from "./priority-semaphore.ts"

// A job without a heartbeat for a second goes to another process; the bus sends three in that time.
const ackWaitMs = 1_000
// One running job and one queued behind it keep an engine's thread busy; an urgent job waits for no more than these.
// Behind a job that takes longer, another one would only delay urgent ones.
const jobsPerThread = { short: 2, long: 1 }
const shortMsMax = 100
// The weight of the last job in the average time per job.
const newest = 1 / 4
// Jobs pulled at once. Those beyond the engine's capacity wait here, where a cancel still reaches them.
const pullMax = 32
const drainPatienceMs = 10_000
const failingPatienceMs = 1_000
// A slow engine sends a sign of life: a sequencer without a frame of a chunk for 2.5 s requests it elsewhere.
const aliveEveryMs = 1_000

const mailCodec = frameCodec(SequencerMail)
const jobCodec = jsonCodec(ChunkJob)
const silence = new Int16Array(0)

/** Needs the bus, the runtime and the engines. */
export const synthesizer = Layer.effectDiscard(
  Effect.gen(function* () {
    const work = yield* workOf
    // The only mail to a synthesizer announces that a session is over.
    yield* work.mailbox.onUnknown((sessionId) => {
      for (const cancelled of work.cancels.get(sessionId) ?? []) Deferred.doneUnsafe(cancelled, Effect.void)
    })
    for (const { engine } of work.engines.values()) yield* serve(work, engine)
    yield* announceEngineStates([...work.engines.values()].map(({ engine }) => engine))
    yield* (yield* Drain).register("speech-synthesizer", drainAll(work.consumptions, drainPatienceMs))
  })
)

/** Takes the jobs of an engine while it can speak. Returns once it takes them, or if it cannot speak. */
const serve = Effect.fnUntraced(function* (work: Work, engine: SpeechEngine) {
  const { state } = engine
  if (state === undefined) return yield* Effect.asVoid(takeJobs(work, engine.name))
  const until = (isUsable: boolean) =>
    SubscriptionRef.changes(state).pipe(
      Stream.filter((now) => (now.state !== "failed") === isUsable),
      Stream.take(1),
      Stream.runDrain
    )
  const whileUsable = Effect.scoped(
    Effect.gen(function* () {
      const consumption = yield* takeJobs(work, engine.name)
      yield* until(false)
      // The jobs in progress report to their sequencers how they failed.
      yield* consumption.drain(failingPatienceMs)
    })
  )
  yield* Effect.forkScoped(
    supervise(`jobs of ${engine.name}`, Effect.forever(Effect.andThen(until(true), whileUsable)))
  )
})

const takeJobs = Effect.fnUntraced(function* (work: Work, engine: string) {
  const consumption = yield* consume({
    consumer: {
      stream: "SPEECH",
      durable: `synthesizer-${engine}`,
      filterSubjects: [subjects.speechChunks(engine)],
      unackedMax: 1_000,
      ackWaitMs
    },
    pullMax,
    codec: jobCodec,
    origin: "speech",
    handler: (received) => handle(work, received)
  })
  work.consumptions.add(consumption)
  yield* Effect.addFinalizer(() => Effect.sync(() => work.consumptions.delete(consumption)))
  return consumption
})

/** Needs the bus and the runtime. */
export const speechSynthesizer = synthesizer.pipe(Layer.provide(Engines.layer), Layer.provide(References.layer))

interface BoundedEngine {
  readonly engine: SpeechEngine
  readonly slots: PrioritySemaphore
  readonly worked: Worked
  /** How long a job took recently. */
  jobMs: number
}

/** State shared by the jobs of this process. */
interface Work extends Effect.Success<typeof workOf> {}

const workOf = Effect.gen(function* () {
  const { SpeechSynthesizer } = yield* Configuration
  const clock = yield* Clock.Clock
  const waiting = (yield* Metrics).gauge(chunksWaiting)
  const boundedOf = Effect.fnUntraced(function* (engine: SpeechEngine) {
    const worked = yield* checkEngine(engine)
    const onWaiting = (count: number) => waiting.set({ engine: engine.name }, count)
    onWaiting(0)
    const threads = engine.threads ?? SpeechSynthesizer.Threads
    const jobs = () => (bounded.jobMs > shortMsMax ? jobsPerThread.long : jobsPerThread.short)
    const nowMs = () => clock.currentTimeMillisUnsafe()
    const slots = prioritySemaphore({ nowMs, threads, permits: () => threads * jobs(), onWaiting })
    const bounded: BoundedEngine = { engine, worked, jobMs: 0, slots }
    return [engine.name, bounded] as const
  })
  return {
    mailbox: yield* Mailbox,
    engines: new Map(yield* Effect.forEach((yield* Engines).values(), boundedOf)),
    nowMs: () => clock.currentTimeMillisUnsafe(),
    /** Running jobs by session; each ends when its deferred completes. */
    cancels: new Map<string, Set<Deferred.Deferred<void>>>(),
    /** Of the engines whose jobs are taken now. */
    consumptions: new Set<Consumption>(),
    runs: 0
  }
})

/**
 * Acks every job. A job that kills its engine must not return by itself: the sequencer decides what to request again.
 */
const handle = Effect.fnUntraced(function* (
  work: Work,
  { value: job }: Received<ChunkJob>
): Effect.fn.Return<AckDecision> {
  const { cancels } = work
  const cancelled = Deferred.makeUnsafe<void>()
  const ofSession = cancels.get(job.sessionId) ?? new Set()
  cancels.set(job.sessionId, ofSession.add(cancelled))
  yield* Effect.raceFirst(make(work, job), Deferred.await(cancelled)).pipe(
    Effect.catchCause((cause) => reportFailure(work, job, cause)),
    Effect.ensuring(
      Effect.sync(() => {
        ofSession.delete(cancelled)
        if (ofSession.size === 0) cancels.delete(job.sessionId)
      })
    )
  )
  return ack
})

const make = Effect.fnUntraced(function* (work: Work, job: ChunkJob) {
  const bounded = work.engines.get(job.voice.engine)
  if (bounded === undefined) return yield* Effect.fail(`no engine ${job.voice.engine}`)
  const send = sender(work, job)
  const alive = Effect.delay(Effect.sync(send.alive), aliveEveryMs)
  const speaking = job.isBackground === true ? inBackground : inTurn
  yield* Effect.raceFirst(speaking(work, bounded, { job, send }), Effect.repeat(alive, Schedule.forever))
  send.last()
})

// 350 ms of espeak-ng, a sixth of a short first sentence: enough for any format's first bytes, and enough for a player
// to outlast the start of a crowd.
const beginningFrames = 3

/**
 * If others wait behind a first chunk, it is spoken in two parts: its beginning, and after their beginnings the rest.
 */
const inTurn = Effect.fnUntraced(function* (work: Work, bounded: BoundedEngine, made: Making) {
  const { engine, slots } = bounded
  const mayPart = made.job.chunk === 0 && engine.isRepeatable === true
  let hasRest = false
  const begun = Effect.suspend(() => {
    hasRest = mayPart && slots.isAnyDue(work.nowMs())
    return timed(work, bounded, speak(bounded, made, hasRest ? { to: beginningFrames } : undefined))
  })
  const frames = yield* slots.withPermit(dueAt(made.job, work.nowMs()), begun)
  if (!hasRest || frames < beginningFrames) return
  yield* slots.withPermit(work.nowMs(), timed(work, bounded, speak(bounded, made, { from: beginningFrames })))
})

/** Nothing is sent before the engine has made all of it, so that a beginning that gave way leaves no trace. */
const inBackground = Effect.fnUntraced(function* (_: Work, bounded: BoundedEngine, { job, send }: Making) {
  const whole = Effect.suspend(() => {
    const frames: Array<EngineFrame> = []
    return Effect.as(speak(bounded, { job, send: { frame: (frame) => frames.push(frame) } }, undefined), frames)
  })
  for (const frame of yield* bounded.slots.inBackground(whole)) send.frame(frame)
})

interface Making {
  readonly job: ChunkJob
  readonly send: Pick<ReturnType<typeof sender>, "frame">
}

/** Returns the number of frames sent. */
const speak = ({ engine, worked }: BoundedEngine, { job, send }: Making, frames: EngineJob["frames"]) => {
  const { goesOn, phonemes, pieces, voice } = job
  const manner = { ...(goesOn && { goesOn }), ...(phonemes && { phonemes }), ...(frames && { frames }) }
  return engine.synthesize({ voice, pieces, ...manner }).pipe(
    Stream.runFold(
      () => 0,
      (sent, frame) => {
        send.frame(frame)
        worked()
        return sent + 1
      }
    ),
    Effect.mapError((error) => error.message)
  )
}

const timed = <A, E>({ nowMs }: Work, bounded: BoundedEngine, job: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    const beganAtMs = nowMs()
    const measure = Effect.sync(() => {
      bounded.jobMs += (nowMs() - beganAtMs - bounded.jobMs) * newest
    })
    return Effect.tap(job, measure)
  })

// A chunk takes this long from the engine to its listener on a busy machine.
const onItsWayMs = 500

/**
 * A listener without audio comes before all that have some left; one that would fall silent comes before those that
 * ask after that moment.
 */
export const dueAt = ({ chunk, neededInMs = 0 }: Pick<ChunkJob, "chunk" | "neededInMs">, nowMs: number) =>
  chunk === 0 ? nowMs : nowMs + Math.max(0, neededInMs - onItsWayMs)

/** Sends the frames of one run of a job to its sequencer. */
const sender = (work: Work, job: ChunkJob) => {
  const { mailbox } = work
  const run = `${mailbox.instance}.${work.runs++}`
  let sample = 0
  const sendOne = (pcm: Int16Array, words: EngineFrame["words"], isLast: boolean) => {
    const head = {
      _tag: "Chunk" as const,
      chunk: job.chunk,
      run,
      synthesizer: mailbox.instance,
      sample,
      words,
      isLast
    }
    mailbox.send(job.sequencer, job.sessionId, mailCodec.encode({ head, pcm }))
    sample += pcm.length
  }
  return {
    frame: ({ pcm, words }: EngineFrame) => {
      for (let at = 0; at === 0 || at < pcm.length; at += frameSamplesMax) {
        sendOne(pcm.subarray(at, at + frameSamplesMax), at === 0 ? words : [], false)
      }
    },
    alive: () => sendOne(silence, [], false),
    last: () => sendOne(silence, [], true)
  }
}

const reportFailure = Effect.fnUntraced(function* (
  { mailbox }: Work,
  { chunk, sequencer, sessionId }: ChunkJob,
  cause: Cause.Cause<string>
) {
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
  yield* Effect.logError("a chunk could not be synthesized", cause)
  const reason = String(Cause.squash(cause)).slice(0, 500)
  const head = { _tag: "ChunkFailed" as const, chunk, synthesizer: mailbox.instance, reason }
  mailbox.send(sequencer, sessionId, mailCodec.encode({ head, pcm: silence }))
})

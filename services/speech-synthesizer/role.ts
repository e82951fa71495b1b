/**
 * The role speech-synthesizer.
 *
 * in: `speech.chunks.<engine>` (SPEECH, a consumer per engine shared by all replicas), cancels on its mailbox, and with
 * a zero-shot model the recordings of `voice-samples`
 * out: PCM and word beginnings to `speech.to.<sequencer>.<session>`
 * state: none; a job is acked when all of it is sent
 * failure policy: a dead process's jobs go to another after 1 s; a job that an engine cannot make is reported to the
 * sequencer, which requests it again or gives up; a crash of an engine thread fails its job alone; the jobs of a cancelled
 * session end within one callback of the engine
 */
import { Cause, Clock, Deferred, Effect, Layer, Schedule, Stream } from "effect"
import { ack, type AckDecision, type Consumption, consume, jsonCodec, Mailbox, type Received } from "#bus"
import { ChunkJob, frameCodec, frameSamplesMax, SequencerMail, subjects } from "#contracts"
import { Configuration, type CounterOf, Drain, Metrics } from "#runtime"
import type { SpeechEngine, EngineFrame } from "#speech"
import { Engines, References } from "./Engines.ts"
import { jobsTotal } from "./metrics.ts"
import { type PrioritySemaphore, prioritySemaphore } from "./priority-semaphore.ts"

// A job without a heartbeat for a second goes to another process; the bus sends three in that time.
const ackWaitMs = 1_000
// One job at work and one behind it keep an engine's thread busy; an urgent job waits for no more than these.
const jobsPerThread = 2
// Jobs pulled at once. Those beyond the engine's capacity wait here, where a cancel still reaches them.
const pullMax = 32
const drainPatienceMs = 10_000
// A slow engine sends a sign of life: a sequencer without a frame of a chunk for 2.5 s requests it of another.
const aliveEveryMs = 1_000

const mailCodec = frameCodec(SequencerMail)
const jobCodec = jsonCodec(ChunkJob)
const silence = new Int16Array(0)

/** Needs the bus, the runtime and the engines. */
export const synthesizer = Layer.effectDiscard(
  Effect.gen(function* () {
    const work = yield* workOf
    // The only mail to a synthesizer means that a session is over.
    yield* work.mailbox.onUnknown((sessionId) => {
      for (const cancelled of work.cancels.get(sessionId) ?? []) Deferred.doneUnsafe(cancelled, Effect.void)
    })
    const consumptions = yield* Effect.forEach([...work.engines.keys()], (engine) =>
      consume({
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
    )
    yield* (yield* Drain).register("speech-synthesizer", drain(consumptions))
  })
)

/** Needs the bus and the runtime. */
export const speechSynthesizer = synthesizer.pipe(Layer.provide(Engines.layer), Layer.provide(References.layer))

interface BoundedEngine {
  readonly engine: SpeechEngine
  readonly slots: PrioritySemaphore
}

/** State that the jobs of this process share. */
interface Work {
  readonly mailbox: Mailbox["Service"]
  readonly engines: ReadonlyMap<string, BoundedEngine>
  readonly nowMs: () => number
  readonly jobs: CounterOf<typeof jobsTotal>
  /** Jobs in work by their session; each ends when its deferred is done. */
  readonly cancels: Map<string, Set<Deferred.Deferred<void>>>
  runs: number
}

const workOf = Effect.gen(function* () {
  const { SpeechSynthesizer } = yield* Configuration
  const clock = yield* Clock.Clock
  const atOnce = SpeechSynthesizer.Threads * jobsPerThread
  const work: Work = {
    mailbox: yield* Mailbox,
    engines: new Map(
      [...(yield* Engines)].map(([name, engine]) => [name, { engine, slots: prioritySemaphore(atOnce) }])
    ),
    nowMs: () => clock.currentTimeMillisUnsafe(),
    jobs: (yield* Metrics).counter(jobsTotal),
    cancels: new Map(),
    runs: 0
  }
  return work
})

/**
 * Acks every job. A job that kills its engine must not come back by itself: the sequencer decides what is requested again.
 */
const handle = Effect.fnUntraced(function* (
  work: Work,
  { value: job }: Received<ChunkJob>
): Effect.fn.Return<AckDecision> {
  const { cancels } = work
  const cancelled = Deferred.makeUnsafe<void>()
  const ofSession = cancels.get(job.sessionId) ?? new Set()
  cancels.set(job.sessionId, ofSession.add(cancelled))
  const outcome = yield* Effect.raceFirst(
    make(work, job),
    Effect.as(Deferred.await(cancelled), "cancelled" as const)
  ).pipe(
    Effect.catchCause((cause) => reportFailure(work, job, cause)),
    Effect.ensuring(
      Effect.sync(() => {
        ofSession.delete(cancelled)
        if (ofSession.size === 0) cancels.delete(job.sessionId)
      })
    )
  )
  work.jobs.inc({ outcome })
  return ack
})

const make = Effect.fnUntraced(function* (work: Work, job: ChunkJob) {
  const { voice, pieces } = job
  const bounded = work.engines.get(voice.engine)
  if (bounded === undefined) return yield* Effect.fail(`no engine ${voice.engine}`)
  const send = sender(work, job)
  const making = Stream.runForEach(bounded.engine.synthesize({ voice, pieces }), (frame) =>
    Effect.sync(() => send.frame(frame))
  ).pipe(Effect.mapError((error) => error.message))
  const alive = Effect.delay(Effect.sync(send.alive), aliveEveryMs)
  yield* Effect.raceFirst(
    bounded.slots.withPermit(dueAt(job, work.nowMs()), making),
    Effect.repeat(alive, Schedule.forever)
  )
  send.last()
  return "made" as const
})

/** A listener that hears nothing yet comes first; the others follow as they run out of audio. */
const dueAt = ({ chunk, neededInMs = 0 }: ChunkJob, nowMs: number) =>
  chunk === 0 ? Number.NEGATIVE_INFINITY : nowMs + neededInMs

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
  return "failed" as const
})

const drain = (consumptions: ReadonlyArray<Consumption>) =>
  Effect.map(
    Effect.forEach(consumptions, (one) => one.drain(drainPatienceMs), { concurrency: "unbounded" }),
    (reports) => ({
      finished: reports.reduce((sum, { finished }) => sum + finished, 0),
      handedBack: reports.reduce((sum, { handedBack }) => sum + handedBack, 0)
    })
  )

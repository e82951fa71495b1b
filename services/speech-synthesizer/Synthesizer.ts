/**
 * Makes chunks: takes a job from SPEECH, lets the voice's engine speak it, and sends what is heard straight
 * to the sequencer that asked. A job is acked when all of it is sent; one whose process dies goes to another
 * within the ack wait. A session that was cancelled has its jobs ended within a callback of the engine.
 */
import { Cause, Clock, Context, Deferred, Effect, Layer, Schedule, Stream } from "effect"
import { consume, ack, jsonCodec, Mailbox, type Received, type AckDecision } from "#bus"
import { ChunkJob, frameCodec, frameSamplesMax, SequencerMail, subjects } from "#contracts"
import { Configuration, Drain, Metrics } from "#runtime"
import type { EngineFrame } from "#speech"
import { Engines } from "./Engines.ts"
import { jobsTotal } from "./metrics.ts"
import { places } from "./places.ts"

// Without a sign of life for a second a job is somebody else's; the bus beats three times within.
const ackWaitMs = 1_000
// One at work and one behind it keep an engine's thread busy; what is urgent waits for no more than these.
const jobsPerThread = 2
// Asked of the broker in one go; what is more than the places waits here, where a cancel still finds it.
const pullMax = 32
const drainPatienceMs = 10_000
// A slow engine says so: a sequencer that hears nothing of a chunk for 2.5 s asks another for it.
const aliveEveryMs = 1_000

const mailCodec = frameCodec(SequencerMail)
const jobCodec = jsonCodec(ChunkJob)

export class Synthesizer extends Context.Service<Synthesizer, { readonly inWork: () => number }>()(
  "starling/speech-synthesizer/Synthesizer"
) {
  static readonly layer = Layer.effect(
    Synthesizer,
    Effect.gen(function* () {
      const { SpeechSynthesizer } = yield* Configuration
      const mailbox = yield* Mailbox
      const engines = yield* Engines
      const clock = yield* Clock.Clock
      const jobs = (yield* Metrics).counter(jobsTotal)
      const cancels = new Map<string, Set<Deferred.Deferred<void>>>()
      let runs = 0

      const sendFrames = (job: ChunkJob, run: string) => {
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
          alive: () => sendOne(new Int16Array(0), [], false),
          last: () => sendOne(new Int16Array(0), [], true)
        }
      }

      const jobsAtOnce = SpeechSynthesizer.Threads * jobsPerThread
      const placesOf = new Map([...engines.keys()].map((engine) => [engine, places(jobsAtOnce)]))

      const make = Effect.fnUntraced(function* (job: ChunkJob) {
        const { voice } = job
        const engine = engines.get(voice.engine)
        if (engine === undefined) return yield* Effect.fail(`no engine ${voice.engine}`)
        const send = sendFrames(job, `${mailbox.instance}.${runs++}`)
        const speech = engine.synthesize({ voice, pieces: job.pieces })
        const making = Stream.runForEach(speech, (frame) => Effect.sync(() => send.frame(frame))).pipe(
          Effect.mapError((error) => error.message)
        )
        const placed = placesOf.get(engine.name)?.within(turnOf(job, clock.currentTimeMillisUnsafe()), making) ?? making
        const alive = Effect.delay(Effect.sync(send.alive), aliveEveryMs)
        yield* Effect.raceFirst(placed, Effect.repeat(alive, Schedule.forever))
        send.last()
        return "made"
      })

      const handle = Effect.fnUntraced(function* ({ value: job }: Received<ChunkJob>): Effect.fn.Return<AckDecision> {
        const cancelled = Deferred.makeUnsafe<void>()
        const ofSession = cancels.get(job.sessionId) ?? new Set()
        cancels.set(job.sessionId, ofSession.add(cancelled))
        const outcome = yield* Effect.raceFirst(make(job), Effect.as(Deferred.await(cancelled), "cancelled")).pipe(
          Effect.catchCause((cause) => tellFailure(job, cause)),
          Effect.ensuring(
            Effect.sync(() => {
              ofSession.delete(cancelled)
              if (ofSession.size === 0) cancels.delete(job.sessionId)
            })
          )
        )
        jobs.inc({ outcome })
        return ack
      })

      // The sequencer decides whether to ask again; a job that kills its engine must not come back by itself.
      const tellFailure = Effect.fnUntraced(function* (job: ChunkJob, cause: Cause.Cause<string>) {
        if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
        yield* Effect.logError("a chunk could not be synthesized", cause)
        const reason = String(Cause.squash(cause)).slice(0, 500)
        const head = { _tag: "ChunkFailed" as const, chunk: job.chunk, synthesizer: mailbox.instance, reason }
        mailbox.send(job.sequencer, job.sessionId, mailCodec.encode({ head, pcm: new Int16Array(0) }))
        return "failed"
      })

      // The only mail a synthesizer gets is that a session is over.
      yield* mailbox.onUnknown((sessionId) => {
        for (const cancelled of cancels.get(sessionId) ?? []) Deferred.doneUnsafe(cancelled, Effect.void)
      })

      const consumptions = yield* Effect.forEach([...engines.keys()], (engine) =>
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
          handler: handle
        })
      )
      yield* (yield* Drain).register(
        "speech-synthesizer",
        Effect.map(
          Effect.forEach(consumptions, (one) => one.drain(drainPatienceMs), { concurrency: "unbounded" }),
          (reports) => ({
            finished: reports.reduce((sum, { finished }) => sum + finished, 0),
            handedBack: reports.reduce((sum, { handedBack }) => sum + handedBack, 0)
          })
        )
      )
      return Synthesizer.of({ inWork: () => consumptions.reduce((sum, one) => sum + one.inFlight(), 0) })
    })
  )
}

/** Who hears nothing yet comes first; the rest as their listeners run out of sound. */
const turnOf = ({ chunk, neededInMs = 0 }: ChunkJob, nowMs: number) =>
  chunk === 0 ? Number.NEGATIVE_INFINITY : nowMs + neededInMs

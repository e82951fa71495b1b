/**
 * The work on jobs: this process takes as many from SPEECH_JOBS as it may, and takes each from step to step until it is
 * over: speaks its next passage, or writes the files of a chapter. After a chapter it goes behind the jobs that wait. One
 * that cannot go on just now is handed back; one whose process dies goes to another within seconds.
 */
import { Effect, Layer, Option, Result, Schedule } from "effect"
import { ack, consume, jsonCodec, nak, Publisher, readyConsumer, type Received } from "#bus"
import { subjects } from "#base"
import { JobOrder } from "#speech/contract"
import { Configuration } from "#configuration"
import { Drain, Metrics } from "#runtime"
import { charactersSpoken, jobsEnded, jobsRunning } from "../metrics.ts"
import { writeChapter } from "./chapter.ts"
import { JobFiles } from "./JobFiles.ts"
import { JobStore } from "./JobStore.ts"
import { planPassage, speakPassage } from "./passage.ts"
import {
  afterChapter,
  afterFailure,
  afterPassage,
  isEnded,
  type JobAddress,
  type JobFault,
  type JobPlan,
  type JobRecord,
  nextStep,
  restMs
} from "./record.ts"

// What is spoken of a passage by then is lost with it.
const drainPatienceMs = 2_000
// A fleet that has no room for it now has some within seconds; one whose engine is lost, within a minute.
const againMs = { busy: 5_000, unavailable: 30_000 }
// How soon a job that its caller removed is given up.
const lookEvery = "2 seconds"
const sweepEvery = "1 hour"

const codec = jsonCodec(JobOrder)

/** Needs the bus, the runtime, and what speaks. */
export const jobWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const { JobsAtOnce } = (yield* Configuration).SpeechApi
    const metrics = yield* Metrics
    const running = metrics.gauge(jobsRunning)
    let count = 0
    const counted = (by: number) => Effect.sync(() => running.set({}, (count += by)))
    yield* counted(0)
    metrics.counter(jobsEnded)
    if (JobsAtOnce === 0) return
    const consumption = yield* consume({
      consumer: readyConsumer("SPEECH_JOBS", "speech-api"),
      pullMax: JobsAtOnce,
      inWorkMax: JobsAtOnce,
      delayedMakeRoom: true,
      codec,
      origin: "speech-jobs",
      handler: ({ value }: Received<JobOrder>) =>
        Effect.acquireUseRelease(
          counted(1),
          () => work(value),
          () => counted(-1)
        )
    })
    yield* (yield* Drain).register("jobs", consumption.drain(drainPatienceMs))
    const sweep = Effect.catch((yield* JobFiles).removeUnfinished, (error) =>
      Effect.logWarning("what jobs left half stored could not be swept", error)
    )
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))
  })
)

const work = Effect.fn("jobs.work")(
  function* (address: JobAddress) {
    const store = yield* JobStore
    const found = Option.getOrUndefined(yield* store.find(address))
    if (found === undefined || isEnded(found)) return ack
    const isThere = Effect.orElseSucceed(Effect.map(store.find(address), Option.isSome), () => true)
    const gone = Effect.repeat(isThere, { schedule: Schedule.spaced(lookEvery), while: (there) => there })
    const decision = yield* Effect.raceFirst(toItsEnd(found), Effect.as(gone, ack))
    // What was being stored while its caller removed it.
    if (Option.isNone(yield* store.find(address))) yield* (yield* JobFiles).removeAll(found)
    return decision
  },
  (effect, address) =>
    Effect.catch(effect, (error) =>
      Effect.as(Effect.logWarning("a job waits for the bus", error), nak(againMs.busy))
    ).pipe(Effect.annotateLogs({ job: address.id }))
)

/** Until the job is over or gone, or others have waited for the length of a chapter. */
const toItsEnd = Effect.fnUntraced(function* (found: JobRecord) {
  const address: JobAddress = found
  const plan = yield* (yield* JobFiles).plan(address)
  let job: JobRecord | undefined = found
  while (job !== undefined && !isEnded(job)) {
    const { _tag } = nextStep(job)
    const done: Result.Result<JobRecord | undefined, Attempt> = yield* Effect.result(takeStep(address, job, plan))
    if (Result.isFailure(done)) return yield* afterFailed(address, done.failure)
    job = done.success
    if (job !== undefined && isEnded(job)) (yield* Metrics).counter(jobsEnded).inc({ outcome: "completed" })
    else if (_tag === "Write" && (yield* isInLineAgain(address))) return ack
  }
  return ack
})

/** A book of hours is not to keep others waiting: after each chapter it goes behind them. */
const isInLineAgain = Effect.fnUntraced(function* (address: JobAddress) {
  const publisher = yield* Publisher
  return yield* Effect.isSuccess(publisher.publish(subjects.speechJobs, codec, address))
})

const afterFailed = Effect.fnUntraced(function* (address: JobAddress, failure: Attempt) {
  const after = afterAttempt(failure)
  const job =
    after._tag === "Rest"
      ? undefined
      : yield* (yield* JobStore).change(address, (before) => afterFailure(before, after.fault, after._tag === "Fail"))
  if (job !== undefined && isEnded(job)) {
    yield* Effect.logError("a job has failed", failure)
    ;(yield* Metrics).counter(jobsEnded).inc({ outcome: "failed" })
    return ack
  }
  yield* Effect.logWarning("a job goes no further for now", failure)
  return nak(after._tag === "Rest" ? after.forMs : job === undefined ? 0 : restMs(job))
})

/** Returns the record after the step; undefined if the job is gone. */
const takeStep = Effect.fnUntraced(function* (address: JobAddress, job: JobRecord, plan: JobPlan) {
  const store = yield* JobStore
  const step = nextStep(job)
  if (step._tag === "Done") return job
  const { chapter } = step
  if (step._tag === "Write") {
    const bytes = yield* writeChapter({ address, chapter, job, plan })
    const after = yield* store.change(address, (before) => afterChapter(before, chapter, bytes))
    yield* (yield* JobFiles).removePassages(address, chapter, job.chapters[chapter]?.passages ?? 0)
    return after
  }
  const { passage } = step
  const { turns = [] } = plan.chapters[chapter]?.passages[passage] ?? {}
  const order = yield* planPassage(address, plan, { turns })
  const { samples } = yield* speakPassage({ address, chapter, passage }, order, turns)
  const characters = order.billableCharacters
  const after = yield* store.change(address, (before) =>
    afterPassage(before, { chapter, passage, characters, samples })
  )
  const isMine = after?.chapters[chapter]?.spoken === passage + 1
  if (isMine) (yield* Metrics).counter(charactersSpoken).inc({ model: order.model.id }, characters)
  return after
})

type Attempt = Effect.Error<ReturnType<typeof takeStep>>

/** `Rest`: the fleet has no room for it now. `Again`: it counts against the job. `Fail`: it would fail the same again. */
type AfterAttempt =
  | { readonly _tag: "Rest"; readonly forMs: number }
  | { readonly _tag: "Again" | "Fail"; readonly fault: JobFault }

/** What follows when a job goes no further. Pure. */
export const afterAttempt = (error: Attempt): AfterAttempt => {
  switch (error._tag) {
    case "WireError":
      return error.status === 429 || error.status === 503
        ? { _tag: "Rest", forMs: againMs.unavailable }
        : { _tag: "Fail", fault: { code: error.code, message: error.message } }
    case "InputRefused":
      return { _tag: "Fail", fault: { code: "validation_failed", message: error.faults[0]?.message ?? "" } }
    case "SpeechFailed":
      return error.code === "service_unavailable"
        ? { _tag: "Rest", forMs: againMs.busy }
        : { _tag: "Again", fault: { code: error.code, message: error.message } }
    case "EncoderFailed":
      return { _tag: "Again", fault: { code: "upstream_failure", message: "a chapter could not be encoded" } }
    case "FfmpegMissing":
    case "CannotKeepFiles":
      return { _tag: "Rest", forMs: againMs.unavailable }
    default:
      return { _tag: "Rest", forMs: againMs.busy }
  }
}

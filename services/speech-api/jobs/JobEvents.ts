/**
 * The progress of a job, as its followers are told: its state at once, and each later one, until the last. Ends when
 * this process drains, because a listener waits for its answers to end: who follows connects again.
 */
import { Context, Deferred, Effect, Layer, Option, Stream } from "effect"
import type { BusError } from "#bus"
import { Drain } from "#runtime"
import { JobStore } from "./JobStore.ts"
import { isEnded, type JobRecord } from "./record.ts"

export class JobEvents extends Context.Service<
  JobEvents,
  { readonly of: (job: JobRecord) => Stream.Stream<JobRecord, BusError> }
>()("starling/speech-api/JobEvents") {
  static readonly layer = Layer.effect(
    JobEvents,
    Effect.gen(function* () {
      const store = yield* JobStore
      const ended = yield* Deferred.make<void>()
      const end = Effect.as(Deferred.succeed(ended, undefined), { finished: 0, handedBack: 0 })
      yield* (yield* Drain).register("followers of jobs", end)
      return JobEvents.of({
        of: (first) =>
          Stream.unfold(undefined, (told: JobRecord | undefined) => next(store, first, told)).pipe(
            Stream.interruptWhen(Deferred.await(ended))
          )
      })
    })
  )
}

// A passage takes seconds.
const lookEvery = "1 second"

/** The next state that a follower has not been told; nothing after the last, or if the job is removed. */
const next = Effect.fnUntraced(function* (store: JobStore["Service"], first: JobRecord, told: JobRecord | undefined) {
  if (told === undefined) return [first, first] as const
  if (isEnded(told)) return undefined
  for (;;) {
    yield* Effect.sleep(lookEvery)
    const job = yield* store.find(told)
    if (Option.isNone(job)) return undefined
    if (job.value.changedAtMs !== told.changedAtMs) return [job.value, job.value] as const
  }
})

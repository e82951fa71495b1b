/**
 * The records of jobs, by `<workspace>.<job>`. A job's text is stored before its record, and its files are removed after
 * it, so that no record lacks what it needs.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import { type BusError, deleted, kept, Kv, records, replaced } from "#bus"
import { encodeToken } from "#base"
import { JobFiles } from "./JobFiles.ts"
import { type JobAddress, jobKey, type JobPlan, JobRecord } from "./record.ts"

/** As long after its last change as the bucket keeps a record. */
export const jobKeptMs = 7 * 86_400_000

export class JobStore extends Context.Service<
  JobStore,
  {
    readonly open: (job: JobRecord, plan: JobPlan) => Effect.Effect<void, BusError>
    readonly find: (address: JobAddress) => Effect.Effect<Option.Option<JobRecord>, BusError>
    /** The newest first. */
    readonly list: (workspace: string) => Effect.Effect<ReadonlyArray<JobRecord>, BusError>
    /** Stores what `next` makes of the record, and returns it; undefined if the job is gone. */
    readonly change: (
      address: JobAddress,
      next: (job: JobRecord) => JobRecord
    ) => Effect.Effect<JobRecord | undefined, BusError>
    /** False if there was none. */
    readonly remove: (address: JobAddress) => Effect.Effect<boolean, BusError>
  }
>()("starling/speech-api/JobStore") {
  static readonly layer = Layer.effect(
    JobStore,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("speech-jobs", JobRecord)
      const jobs = records(bucket)
      const files = yield* JobFiles

      const change = Effect.fn("JobStore.change")(function* (address: JobAddress, next: (job: JobRecord) => JobRecord) {
        const { value } = yield* jobs.change(jobKey(address), (before, { nowMs }) => {
          const after = before === undefined ? before : next(before)
          return after === before || after === undefined ? kept(before) : replaced({ ...after, changedAtMs: nowMs })
        })
        return value
      })
      const remove = Effect.fn("JobStore.remove")(function* (address: JobAddress) {
        const { answer } = yield* jobs.change(jobKey(address), (before) =>
          before === undefined ? kept(before) : deleted(before, "remove")
        )
        if (answer !== undefined) yield* files.removeAll(answer)
        return answer !== undefined
      })
      return JobStore.of({
        open: (job, plan) => Effect.andThen(files.keepPlan(job, plan), Effect.asVoid(bucket.create(jobKey(job), job))),
        find: (address) =>
          Effect.map(
            bucket.get(jobKey(address)),
            Option.map(({ value }) => value)
          ),
        list: (workspace) =>
          Effect.map(Stream.runCollect(bucket.scan(`${encodeToken(workspace)}.>`)), (entries) =>
            entries.map(({ value }) => value).toSorted((one, two) => two.createdAtMs - one.createdAtMs)
          ),
        change,
        remove
      })
    })
  )
}

/**
 * Reports on `reports.<kind>` what became of a dispatch. Reports of one dispatch are stored in the order they are made,
 * each under an id of its own, so that one that is sent twice counts once. While the broker is away they wait, up to a
 * limit: after a while the fleet counts the runner as dead, and its reports would come too late anyway.
 */
import { Clock, Effect, Schedule } from "effect"
import { Publisher } from "#bus"
import type { PickupDispatch, RunnerReport } from "#pipeline/contract"
import { subjects } from "#base"

type Body<R> = R extends unknown ? Omit<R, "reportId" | "atMs" | "workItemId" | "dispatchId"> : never
/** A report without the fields that all reports have. */
export type ReportBody = Body<Exclude<RunnerReport, { readonly kind: "recheck-completed" }>>

export type Report = (body: ReportBody) => Effect.Effect<void>

const retryEvery = Schedule.spaced("500 millis")
const retriesMax = 120

/** Publishes any report. Gives up with a line in the log. */
export const sendReport = Effect.fnUntraced(function* (kind: string, body: Readonly<Record<string, unknown>>) {
  const publisher = yield* Publisher
  const reportId = crypto.randomUUID()
  const report = { kind, reportId, atMs: yield* Clock.currentTimeMillis, ...body }
  const data = new TextEncoder().encode(JSON.stringify(report))
  yield* publisher.publishRaw(subjects.report(kind), data, { messageId: reportId }).pipe(
    Effect.retry({ schedule: retryEvery, times: retriesMax, while: (error) => error._tag !== "BusRefused" }),
    Effect.catch((error) => Effect.logError("a report was not sent", { kind, reason: error.message }))
  )
})

export const reporterOf = Effect.fnUntraced(function* ({ dispatchId, workItem }: PickupDispatch) {
  const context = yield* Effect.context<Publisher>()
  const of = { workItemId: workItem.id, dispatchId }
  const report: Report = (body) =>
    sendReport(body.kind, { ...of, ...body }).pipe(Effect.provideContext(context), Effect.uninterruptible)
  return report
})

/**
 * Carries out one report: looks up what its steps depend on, then runs each step's command under the report's id. The
 * cost of a report counts even if its item refuses the report. An event of the entire fleet is published unchanged,
 * under the report's message id.
 */
import { hash, randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Random } from "effect"
import type { CommandError } from "#actors"
import { type BusError, jsonCodec, Kv, type KvBucket, Publisher, records, replaced } from "#bus"
import { type ConcernedItem, forecastKey, QuotaForecast, type Report, type WorkItemState } from "#pipeline/contract"
import { Envelope, eventSchemaVersion, isoTime, subjects } from "#base"
import { Configuration } from "#configuration"
import { type Redact, Redactor } from "#runtime"
import { Commands, redactTexts } from "../Commands.ts"
import { agentRoster, Routing } from "../Routing.ts"
import { concernedItem } from "../views.ts"
import { type CommandStep, reportSteps, type PublishStep, usageStep } from "./report-steps.ts"

type ReportOutcome = "decided" | "unchanged" | "refused" | "unknown" | "told" | "ignored" | "handed_back"

const envelopes = jsonCodec(Envelope)

/** Reports whose steps depend on their item's state. */
const lookedUp: ReadonlySet<Report["kind"]> = new Set([
  "agent-died",
  "failed",
  "pull-request-mergeability",
  "quota-hit",
  "smoke-result"
])

export class Reports extends Context.Service<
  Reports,
  { readonly carryOut: (report: Report, storedAtMs: number) => Effect.Effect<ReportOutcome> }
>()("starling/pipeline-api/Reports") {
  static readonly layer = Layer.effect(
    Reports,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const roster = agentRoster(configured.Agents)
      const commands = yield* Commands
      const publisher = yield* Publisher
      const routing = yield* Routing
      const forecasts = yield* (yield* Kv).open("forecasts", QuotaForecast)
      const { redact } = yield* Redactor
      // This run of the role.
      const epoch = randomUUID()

      /** The agent that takes over from one that is out of quota. */
      const fallbackFor = Effect.fnUntraced(function* (report: Report, item: WorkItemState | undefined) {
        if (report.kind !== "quota-hit" || report.toAgent !== null || item === undefined) return null
        if (item.dispatch === null || item.dispatch.dispatchId !== report.dispatchId) return null
        const agent = yield* routing.substitute(item.agent, item.dispatch.agent, item.dispatch.phase)
        return agent === undefined ? null : { agent, model: roster.preferredModel(agent) }
      })

      const run = ({ entity, id, command }: CommandStep, commandId: string) =>
        // The step's command belongs to this entity; the compiler cannot see that of a union.
        Effect.map(commands.run(entity, { id, commandId }, command as never), ({ was }): ReportOutcome =>
          was === "decided" ? "decided" : "unchanged"
        )

      const carryOutSteps = Effect.fnUntraced(function* (report: Report, storedAtMs: number) {
        if (report.kind === "quota-forecast") yield* keepForecast(forecasts, report)
        const state = yield* itemOf(commands, report)
        const item: ConcernedItem | null =
          state === undefined || !("workItemId" in report) ? null : concernedItem(report.workItemId ?? "", state)
        const chance = { jitter: yield* Random.next, freshWorkItemId: randomUUID() }
        const fallback = yield* fallbackFor(report, state)
        const known = { configured, roster, item, dispatch: state?.dispatch ?? null, fallback }
        let outcome: ReportOutcome = "ignored"
        for (const step of reportSteps(report, { atMs: Math.floor(storedAtMs), ...chance, epoch, ...known })) {
          const done =
            step._tag === "Tell"
              ? Effect.as(publisher.publish(...eventOf(step, { report, storedAtMs, redact })), "told" as const)
              : run(step, report.reportId)
          outcome = yield* Effect.catch(done, settled)
        }
        const usage = usageStep(report, chance)
        if (outcome === "refused" && usage !== undefined) {
          yield* Effect.catch(run(usage, `${report.reportId}.usage`), settled)
        }
        return outcome
      })

      return Reports.of({
        carryOut: (report, storedAtMs) =>
          carryOutSteps(report, storedAtMs).pipe(
            Effect.catch((error) =>
              Effect.as(Effect.logWarning("a report is handed back", error), "handed_back" as const)
            ),
            Effect.annotateLogs({ report: report.reportId, kind: report.kind })
          )
      })
    })
  )
}

/** The report's item, if its steps depend on it. */
const itemOf = Effect.fnUntraced(function* (commands: Commands["Service"], report: Report) {
  if (!lookedUp.has(report.kind) || !("workItemId" in report) || report.workItemId === null) return undefined
  const found = yield* commands.read("workitem", report.workItemId)
  return Option.getOrUndefined(Option.map(found, ({ state }) => state))
})

interface PublishedReport {
  readonly report: Report
  readonly storedAtMs: number
  readonly redact: Redact
}

/** The step's event, as it is published. */
const eventOf = ({ event, details }: PublishStep, { report, storedAtMs, redact }: PublishedReport) => {
  const envelope: Envelope = {
    eventSchemaVersion,
    event,
    occurredAt: isoTime(storedAtMs),
    workItem: null,
    project: null,
    details: redactTexts(details, redact)
  }
  // A publisher that knows less than the report itself cannot use the id first, and so have the event dropped as a
  // copy.
  const messageId = `report.${report.reportId}.${hash("sha256", JSON.stringify(report))}`
  return [subjects.event(event), envelopes, envelope, { messageId }] as const
}

/** A refusal ends the report and is logged; a transient failure does not end it. */
const settled = (error: CommandError | BusError): Effect.Effect<ReportOutcome, CommandError> => {
  if (error._tag === "Refusal") {
    return Effect.as(
      Effect.logInfo("a report was refused").pipe(Effect.annotateLogs({ state: error.state, reason: error.reason })),
      "refused"
    )
  }
  return error._tag === "EntityNotFound" ? Effect.succeed("unknown") : Effect.fail(error)
}

/**
 * Keeps the last forecast of each agent's quota in KV `forecasts`. Its best time to spend can still be to come; the
 * sweeper announces it then. Reports of one agent arrive here in order.
 */
const keepForecast = (bucket: KvBucket<QuotaForecast>, forecast: QuotaForecast): Effect.Effect<void, BusError> =>
  Effect.asVoid(records(bucket).change(forecastKey(forecast.agent), () => replaced(forecast)))

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
import { type AgentRoster, agentRoster, Routing } from "../Routing.ts"
import { concernedItem } from "../views.ts"
import { type CommandStep, type ReportMaterial, reportSteps, type PublishStep, usageStep } from "./report-steps.ts"

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
      const { redact } = yield* Redactor
      const parts: Parts = {
        configured,
        roster: agentRoster(configured.Agents),
        commands: yield* Commands,
        publisher: yield* Publisher,
        routing: yield* Routing,
        forecasts: yield* (yield* Kv).open("forecasts", QuotaForecast),
        redact,
        epoch: randomUUID()
      }
      return Reports.of({
        carryOut: (report, storedAtMs) =>
          carryOutSteps(parts, report, storedAtMs).pipe(
            Effect.catch((error) =>
              Effect.as(Effect.logWarning("a report is handed back", error), "handed_back" as const)
            ),
            Effect.annotateLogs({ report: report.reportId, kind: report.kind })
          )
      })
    })
  )
}

interface Parts {
  readonly configured: ReportMaterial["configured"]
  readonly roster: AgentRoster
  readonly commands: Commands["Service"]
  readonly publisher: Publisher["Service"]
  readonly routing: Routing["Service"]
  readonly forecasts: KvBucket<QuotaForecast>
  readonly redact: Redact
  /** This run of the role. */
  readonly epoch: string
}

const carryOutSteps = Effect.fnUntraced(function* (parts: Parts, report: Report, storedAtMs: number) {
  const { configured, epoch, forecasts, roster } = parts
  if (report.kind === "quota-forecast") yield* keepForecast(forecasts, report)
  const state = yield* itemOf(parts, report)
  const item: ConcernedItem | null =
    state === undefined || !("workItemId" in report) ? null : concernedItem(report.workItemId ?? "", state)
  const chance = { jitter: yield* Random.next, freshWorkItemId: randomUUID() }
  const steps = reportSteps(report, {
    atMs: Math.floor(storedAtMs),
    ...chance,
    epoch,
    configured,
    roster,
    item,
    dispatch: state?.dispatch ?? null,
    fallback: yield* fallbackFor(parts, report, state)
  })
  let outcome: ReportOutcome = "ignored"
  for (const step of steps) {
    outcome = yield* Effect.catch(
      step._tag === "Tell" ? publish(parts, step, { report, storedAtMs }) : run(parts, step, report.reportId),
      settled
    )
  }
  const usage = usageStep(report, chance)
  if (outcome === "refused" && usage !== undefined) {
    yield* Effect.catch(run(parts, usage, `${report.reportId}.usage`), settled)
  }
  return outcome
})

/** The report's item, if its steps depend on it. */
const itemOf = Effect.fnUntraced(function* ({ commands }: Parts, report: Report) {
  if (!lookedUp.has(report.kind) || !("workItemId" in report) || report.workItemId === null) return undefined
  const held = yield* commands.read("workitem", report.workItemId)
  return Option.getOrUndefined(Option.map(held, ({ state }) => state))
})

/** The agent that takes over from one that is out of quota. */
const fallbackFor = Effect.fnUntraced(function* (
  { roster, routing }: Parts,
  report: Report,
  item: WorkItemState | undefined
) {
  if (report.kind !== "quota-hit" || report.toAgent !== null || item === undefined) return null
  if (item.dispatch === null || item.dispatch.dispatchId !== report.dispatchId) return null
  const agent = yield* routing.substitute(item.agent, item.dispatch.agent, item.dispatch.phase)
  return agent === undefined ? null : { agent, model: roster.preferredModel(agent) }
})

const run = (
  { commands }: Parts,
  { entity, id, command }: CommandStep,
  commandId: string
): Effect.Effect<ReportOutcome, CommandError> =>
  // The step's command belongs to this entity; the compiler cannot see that of a union.
  Effect.map(commands.run(entity, { id, commandId }, command as never), ({ was }) =>
    was === "decided" ? "decided" : "unchanged"
  )

const publish = Effect.fnUntraced(function* (
  { publisher, redact }: Parts,
  { event, details }: PublishStep,
  { report, storedAtMs }: { readonly report: Report; readonly storedAtMs: number }
) {
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
  yield* publisher.publish(subjects.event(event), envelopes, envelope, { messageId })
  return "told" as const
})

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

/**
 * What is reported of agents, their sandboxes and hosts: by runners, by the services that test credentials, and by
 * those that look after sandboxes. Money does not occur here; bytes and milliseconds are in the names.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, text, Uuid } from "../primitives.ts"
import { type ReportDeclaration, reportOf } from "./report-head.ts"
import { agentReasonCharactersMax, SmokeCategory } from "./agent-state.ts"
import { AgentName, errorCharactersMax } from "./work-item-state.ts"

const reason = text(errorCharactersMax)
const maybeMs = Schema.NullOr(EpochMs)
const agent = { agent: AgentName, agentInstanceId: Schema.NullOr(Id) }

// A launch that was refused: of an item's dispatch, or of a sandbox that belongs to none.
const launch = {
  workItemId: Schema.NullOr(Uuid),
  dispatchId: Schema.NullOr(Id),
  suggestedRetryAtMs: EpochMs
}

/** Sandboxes that are ours carry this prefix; another's is never reported, let alone disposed of. */
const SandboxName = Schema.String.check(Schema.isPattern(/^service-[\x21-\x7e]{1,192}$/u))

const leak = {
  name: SandboxName,
  ageMinutes: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 })),
  diskMb: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))),
  /** A stable code. */
  reason: Schema.String.check(Schema.isPattern(/^[a-z0-9_]{1,100}$/u))
}

const session = {
  ...agent,
  workItemId: Uuid,
  sessionId: Schema.String.check(Schema.isBetweenLength(1, 200)),
  error: reason
}

const fleetReportSchemas = {
  smokeResult: reportOf("smoke-result", {
    ...agent,
    outcome: Schema.Literals(["failed", "passed"]),
    /** Whether it was tested at startup or in the background, or at the pickup of `workItemId`. */
    cause: Schema.Literals(["probe", "pickup"]),
    workItemId: Schema.NullOr(Uuid),
    /** Such as `auth`, `timeout` or `no token`; null when it passed, or nobody knows. */
    reason: Schema.NullOr(text(agentReasonCharactersMax)),
    /** Of a test that passed it means nothing. */
    category: SmokeCategory,
    occurredAtMs: EpochMs,
    /** The run of the process that tested, so that each run tells once; null: it does not say. */
    epoch: Schema.NullOr(Id)
  }),
  quotaForecast: reportOf("quota-forecast", {
    agent: AgentName,
    /** Resets that were saved up. */
    bankedCredits: Schema.NullOr(Count.check(Schema.isLessThanOrEqualTo(1_000_000))),
    /** Null: unknown. Share of the quota that is left, in percent. */
    usableQuotaPct: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
    predictedNaturalResetMs: maybeMs,
    nextCreditExpiresAtMs: maybeMs,
    nextCreditIsEstimated: Schema.Boolean,
    /** The window in which spending a credit is best; null: there is none. */
    optimalFromMs: maybeMs,
    optimalUntilMs: maybeMs,
    decisionDeadlineMs: maybeMs
  }),
  sessionSuspendFailed: reportOf("provider-session-suspend-failed", session),
  sessionCloseFailed: reportOf("provider-session-close-failed", session),
  diskDeferred: reportOf("disk-deferred", {
    ...launch,
    runner: Id,
    mountPath: Schema.String.check(Schema.isBetweenLength(1, 1_000)),
    freeBytes: Count,
    thresholdBytes: Count
  }),
  provisioningDeferred: reportOf("sandbox-provisioning-deferred", {
    ...launch,
    provider: Schema.String.check(Schema.isBetweenLength(1, 200)),
    operation: Schema.String.check(Schema.isBetweenLength(1, 200)),
    errorClass: Schema.String.check(Schema.isBetweenLength(1, 200))
  }),
  leakDetected: reportOf("sandbox-leak-detected", leak),
  leakDisposed: reportOf("sandbox-leak-disposed", { ...leak, disposedAtMs: EpochMs }),
  leakDisposeFailed: reportOf("sandbox-leak-dispose-failed", { ...leak, error: reason })
}

const declare = <S extends ReportDeclaration["schema"], About extends ReportDeclaration["about"]>(
  why: string,
  about: About,
  schema: S
) => ({ why, about, schema }) satisfies ReportDeclaration

const of = fleetReportSchemas

export const fleetReports = {
  "smoke-result": declare("the credentials of an agent were tested", "agent", of.smokeResult),
  "quota-forecast": declare("an agent's quota is forecast anew", "agent", of.quotaForecast),
  "provider-session-suspend-failed": declare(
    "a session of an agent could not suspend its machine",
    "agent",
    of.sessionSuspendFailed
  ),
  "provider-session-close-failed": declare("a session of an agent could not be closed", "agent", of.sessionCloseFailed),
  "disk-deferred": declare("a sandbox was not launched for want of free disk", "workitem", of.diskDeferred),
  "sandbox-provisioning-deferred": declare(
    "a provider put the launch of a sandbox off",
    "workitem",
    of.provisioningDeferred
  ),
  "sandbox-leak-detected": declare("a sandbox was found that nobody tracks", "fleet", of.leakDetected),
  "sandbox-leak-disposed": declare("such a sandbox was disposed of", "fleet", of.leakDisposed),
  "sandbox-leak-dispose-failed": declare("such a sandbox could not be disposed of", "fleet", of.leakDisposeFailed)
} as const

/**
 * Every report that internal services and runners can publish on `reports.<kind>`, as data: what it reports, which
 * entity it concerns, and its exact shape. Decoding lists all faults with their paths. Unknown fields pass, as
 * additive.
 */
import { Result, Schema } from "effect"
import {
  type BoundedDecoder,
  boundedDecoder,
  Count,
  encodeToken,
  EpochMs,
  exampleValue,
  type Fault,
  Id,
  Ordinal,
  pointedFaults,
  text,
  Uuid
} from "#base"
import { agentReasonCharactersMax, SmokeCategory } from "./agent.ts"
import { ReleaseRemediation } from "./release.ts"
import { workItemReports } from "./work-item/reports.ts"
import { AgentName, Branch, errorCharactersMax } from "./work-item/state.ts"

/** A report's declaration: decoding, documents, examples, `publish` and handlers are made from it. */
export interface ReportDeclaration<S extends Schema.Codec<unknown, unknown> = Schema.Codec<unknown, unknown>> {
  /** What the report says has happened, as the end of "says that ...". */
  readonly why: string
  /** The entity whose actor the report concerns; `fleet`: no actor, the report only becomes an event. */
  readonly about: "workitem" | "agent" | "project" | "release" | "fleet"
  readonly schema: S
}

/**
 * `reportId` becomes the id of the resulting command, so that a report published twice changes nothing the second time.
 * `atMs` is the reporter's clock: shown, never decided on.
 */
const reportHead = { reportId: Uuid, atMs: EpochMs }

const reportOf = <const Kind extends string, const Fields extends Schema.Struct.Fields>(kind: Kind, fields: Fields) =>
  Schema.Struct({ kind: Schema.Literal(kind), ...reportHead, ...fields })

const declare = <S extends ReportDeclaration["schema"], About extends ReportDeclaration["about"]>(
  why: string,
  about: About,
  schema: S
) => ({ why, about, schema }) satisfies ReportDeclaration

const withHead = <const Fields extends Schema.Struct.Fields>(report: Schema.Struct<Fields>) =>
  Schema.Struct({ ...report.fields, ...reportHead })

const item = <S extends ReportDeclaration["schema"]>(why: string, schema: S) =>
  ({ why, about: "workitem", schema }) as const satisfies ReportDeclaration

const of = workItemReports

/**
 * Runners' reports on the items they work on: the work item's own shapes with the head of all reports. Texts are as
 * people and agents wrote them; pipeline-api removes secrets before passing them on.
 */
const runnerReports = {
  progress: item("a runner is alive and at its item, and what that has cost since", withHead(of.progress)),
  "iteration-ended": item("work, rework or delegation ended, with a commit or without", withHead(of.iterationEnded)),
  "audit-ended": item("the auditors of an iteration are through, with all their findings", withHead(of.auditEnded)),
  "auditor-timed-out": item("one auditor did not answer in time", withHead(of.auditorTimedOut)),
  "merge-ended": item("the merge went through, met a conflict, or failed", withHead(of.mergeEnded)),
  "conflict-rework-ended": item("a conflict was resolved, or was not", withHead(of.conflictReworkEnded)),
  "pull-request-opened": item("a pull request was opened for the work branch", withHead(of.pullRequestOpened)),
  "push-ended": item("the push to upstream ended", withHead(of.pushEnded)),
  "questions-asked": item("the agent asks an operator", withHead(of.questionsAsked)),
  "suggestions-made": item("the agent suggests something beyond the item", withHead(of.suggestionsMade)),
  "agent-stuck": item("the agent hung and was killed", withHead(of.agentStuck)),
  "agent-died": item("the worker of a dispatch is gone", withHead(of.agentDied)),
  "auth-failed": item("the agent met a login prompt, or its credentials are refused", withHead(of.authFailed)),
  "quota-hit": item("the agent is out of quota, and who takes over", withHead(of.quotaHit)),
  "transient-failed": item("a transport failure, which may pass", withHead(of.transientFailed)),
  failed: item("the phase failed for good", withHead(of.failed)),
  preempted: item("the host goes down in order and hands the item back", withHead(of.preempted)),
  "check-verdict": item("a check has its verdict", withHead(of.checkVerdict)),
  "recheck-completed": item("a check was made again after its act", withHead(of.recheckCompleted))
} as const

const reason = text(errorCharactersMax)
const maybeMs = Schema.NullOr(EpochMs)
const agent = { agent: AgentName, agentInstanceId: Schema.NullOr(Id) }

// A refused launch: either of an item's dispatch, or of a sandbox that belongs to no item.
const launch = {
  workItemId: Schema.NullOr(Uuid),
  dispatchId: Schema.NullOr(Id),
  suggestedRetryAtMs: EpochMs
}

/** Our sandboxes carry this prefix. Other sandboxes are never reported, let alone disposed of. */
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
    /** `probe`: tested at startup or in the background. `pickup`: tested at the pickup of `workItemId`. */
    cause: Schema.Literals(["probe", "pickup"]),
    workItemId: Schema.NullOr(Uuid),
    /** Such as `auth`, `timeout` or `no token`; null when the test passed or the cause is unknown. */
    reason: Schema.NullOr(text(agentReasonCharactersMax)),
    /** Meaningless when the test passed. */
    category: SmokeCategory,
    occurredAtMs: EpochMs,
    /** The run of the testing process, so that each run reports once; null: unknown. */
    epoch: Schema.NullOr(Id)
  }),
  quotaForecast: reportOf("quota-forecast", {
    agent: AgentName,
    /** Resets that were saved up. */
    bankedCredits: Schema.NullOr(Count.check(Schema.isLessThanOrEqualTo(1_000_000))),
    /** The share of the quota that is left, in percent; null: unknown. */
    usableQuotaPct: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
    predictedNaturalResetMs: maybeMs,
    nextCreditExpiresAtMs: maybeMs,
    nextCreditIsEstimated: Schema.Boolean,
    /** The window in which spending a credit is best; null: none. */
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

/**
 * Reports on agents, their sandboxes and hosts, by runners and by services that test credentials or manage sandboxes.
 */
const fleetReports = {
  "smoke-result": declare("the credentials of an agent were tested", "agent", fleetReportSchemas.smokeResult),
  "quota-forecast": declare("an agent's quota is forecast anew", "agent", fleetReportSchemas.quotaForecast),
  "provider-session-suspend-failed": declare(
    "a session of an agent could not suspend its machine",
    "agent",
    fleetReportSchemas.sessionSuspendFailed
  ),
  "provider-session-close-failed": declare(
    "a session of an agent could not be closed",
    "agent",
    fleetReportSchemas.sessionCloseFailed
  ),
  "disk-deferred": declare(
    "a sandbox was not launched for want of free disk",
    "workitem",
    fleetReportSchemas.diskDeferred
  ),
  "sandbox-provisioning-deferred": declare(
    "a provider put the launch of a sandbox off",
    "workitem",
    fleetReportSchemas.provisioningDeferred
  ),
  "sandbox-leak-detected": declare("a sandbox was found that nobody tracks", "fleet", fleetReportSchemas.leakDetected),
  "sandbox-leak-disposed": declare("such a sandbox was disposed of", "fleet", fleetReportSchemas.leakDisposed),
  "sandbox-leak-dispose-failed": declare(
    "such a sandbox could not be disposed of",
    "fleet",
    fleetReportSchemas.leakDisposeFailed
  )
} as const

const Sha = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{7,64}$/u))
const Url = Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s]{1,992}$/u))
const release = { releaseId: Uuid }

// pipeline-api chooses the item's id.
const { title, instructions, agent: remedyAgent } = ReleaseRemediation.fields

// A review with more iterations than this does not converge.
const Iteration = Ordinal.check(Schema.isLessThanOrEqualTo(1_000))

const releaseReportSchemas = {
  deepAuditBegun: reportOf("release-deep-audit-begun", {
    ...release,
    auditId: Id,
    maxIterations: Schema.NullOr(Iteration)
  }),
  /**
   * Without blocking findings the audit passed; with blocking findings in the last iteration the release fails.
   * `remediation`: the item to fix them; null: not wanted.
   */
  deepAuditIterationEnded: reportOf("release-deep-audit-iteration-ended", {
    ...release,
    /** Null: the audit in progress. */
    auditId: Schema.NullOr(Id),
    iteration: Iteration,
    maxIterations: Iteration,
    blockingFindings: Count,
    totalFindings: Count,
    remediation: Schema.NullOr(Schema.Struct({ title, instructions, agent: remedyAgent }))
  }),
  /** The release was merged to its target branch. The forge release's address is null where none is configured. */
  published: reportOf("release-published", {
    ...release,
    mergeSha: Schema.NullOr(Sha),
    forgeReleaseUrl: Schema.NullOr(Url)
  }),
  syncConflict: reportOf("release-sync-conflict", { ...release, sourceBranch: Branch, targetBranch: Branch }),
  /** `workItemId`: the item of the work branch; null where it is unknown. */
  mergeability: reportOf("pull-request-mergeability", {
    projectId: Id,
    workItemId: Schema.NullOr(Uuid),
    pullRequestNumber: Ordinal,
    pullRequestUrl: Url,
    headBranch: Branch,
    headSha: Sha,
    baseBranch: Branch,
    mergeability: Schema.Literals(["stale-base", "mergeable", "closed", "merged"]),
    firstDetectedAtMs: EpochMs
  })
}

/**
 * Reports on releases, by the services that audit, merge and sync them; and on pull requests, by those that watch the
 * forge.
 */
const releaseReports = {
  "release-deep-audit-begun": declare(
    "the deep audit of a release began",
    "release",
    releaseReportSchemas.deepAuditBegun
  ),
  "release-deep-audit-iteration-ended": declare(
    "an iteration of the deep audit ended",
    "release",
    releaseReportSchemas.deepAuditIterationEnded
  ),
  "release-published": declare("a release was merged to main", "release", releaseReportSchemas.published),
  "release-sync-conflict": declare(
    "a release branch cannot be synced without a hand",
    "release",
    releaseReportSchemas.syncConflict
  ),
  "pull-request-mergeability": declare(
    "the forge was asked whether a pull request of ours can be merged",
    "project",
    releaseReportSchemas.mergeability
  )
} as const

/** Every report by its kind, as named in the subject and in the report. */
export const reportKinds = { ...runnerReports, ...fleetReports, ...releaseReports } as const
export type ReportKind = keyof typeof reportKinds
/** A report of that kind, or of any. Its head: `kind`, `reportId` (UUID), `atMs`. */
export type Report<Kind extends ReportKind = ReportKind> = (typeof reportKinds)[Kind]["schema"]["Type"]
/** A runner's report on an item: the work item's own command takes it unchanged, once secrets are removed. */
export type RunnerReport = Report<keyof typeof runnerReports>

export const isReportKind = (kind: string): kind is ReportKind => Object.hasOwn(reportKinds, kind)
export const isRunnerReport = (report: Report): report is RunnerReport => Object.hasOwn(runnerReports, report.kind)

const decoders = new Map<ReportKind, BoundedDecoder<unknown>>()

// Decoders are built on first use: building all of them would slow down every start.
const decoderOf = (kind: ReportKind): BoundedDecoder<unknown> => {
  const made = decoders.get(kind)
  if (made !== undefined) return made
  const declaration: ReportDeclaration = reportKinds[kind]
  const decoder = boundedDecoder(declaration.schema)
  decoders.set(kind, decoder)
  return decoder
}

/** Decodes a message on `reports.<kind>`. An unknown kind is a fault at `/kind`. */
export const decodeReport = (kind: string, input: unknown): Result.Result<Report, ReadonlyArray<Fault>> => {
  if (!isReportKind(kind)) return Result.fail([{ path: "/kind", message: `there is no report ${kind}` }])
  return Result.mapBoth(decoderOf(kind)(input), {
    onSuccess: (report) => report as Report,
    onFailure: pointedFaults
  })
}

/** The last forecast of an agent's quota, as stored in KV `forecasts` under the agent's name. */
export const QuotaForecast = fleetReports["quota-forecast"].schema
export type QuotaForecast = typeof QuotaForecast.Type

export const forecastKey = (agent: string): string => encodeToken(agent)

/** An example of that kind of report; undefined for an unknown kind. Its ids refer to nothing that exists. */
export const exampleReport = (kind: string): Report | undefined =>
  isReportKind(kind) ? (exampleValue(reportKinds[kind].schema) as Report) : undefined

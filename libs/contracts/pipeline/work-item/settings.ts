/**
 * The settings that a project and the configuration give an item. They are copied into its creation and refreshed by
 * every dispatch, so that a decision needs only the item's state and the command.
 */
import { Schema } from "effect"
import { Count, Ordinal } from "../../primitives.ts"

/** The upper limit of every cap of a run, so that sums of caps stay small. */
export const capMax = 1_000
const cap = Count.check(Schema.isLessThanOrEqualTo(capMax))
const capFromOne = Ordinal.check(Schema.isLessThanOrEqualTo(capMax))

export const findingSeverities = ["Info", "Warning", "Error"] as const

export const RetryBackoff = Schema.Struct({
  initialMs: Count,
  /** The wait doubles with every attempt, up to this. */
  maxMs: Count,
  /** The largest share of the wait that chance adds: 0 to 1. */
  jitter: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
})
export interface RetryBackoff extends Schema.Schema.Type<typeof RetryBackoff> {}

export const WorkItemSettings = Schema.Struct({
  /** Findings of this severity and above block. */
  failingSeverity: Schema.Literals(findingSeverities),
  /** False: a pull request stays open, and its `mergedSha` is null. */
  autoMerge: Schema.Boolean,
  maxAuditIterations: capFromOne,
  /** How often an item may enter conflict rework. */
  maxReworkAttempts: cap,
  maxRecoveryAttempts: cap,
  /** Pushes to upstream, the first included. */
  maxUpstreamPushAttempts: capFromOne,
  maxQuotaRetries: cap,
  maxTransientRetries: cap,
  transientBackoff: RetryBackoff,
  /** True: an item whose agent was stuck is queued again while transient retries are left. */
  retriesWhenStuck: Schema.Boolean,
  /** True: an audit that does not converge leads to delegation, once; else it fails the item. */
  delegatesAtAuditMax: Schema.Boolean,
  /** The number of terminal failures after which an item delegates itself; null: never. */
  delegatesAfterFailures: Schema.NullOr(capFromOne)
}).annotate({ identifier: "WorkItemSettings" })
export interface WorkItemSettings extends Schema.Schema.Type<typeof WorkItemSettings> {}

/** The settings of a project that sets nothing. */
export const workItemSettingsDefault: WorkItemSettings = {
  failingSeverity: "Error",
  autoMerge: false,
  maxAuditIterations: 3,
  maxReworkAttempts: 3,
  maxRecoveryAttempts: 3,
  maxUpstreamPushAttempts: 3,
  maxQuotaRetries: 10,
  maxTransientRetries: 5,
  transientBackoff: { initialMs: 30_000, maxMs: 1_800_000, jitter: 0.2 },
  retriesWhenStuck: false,
  delegatesAtAuditMax: false,
  delegatesAfterFailures: null
}

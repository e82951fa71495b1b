/** What the configuration says of every item, as a project's own settings are laid over it. Pure. */
import type { WorkItemOverrides } from "../pipeline/project-state.ts"
import type { WorkItemSettings } from "../pipeline/work-item-settings.ts"
import type { ConfigurationFile } from "./configuration.ts"

type Sections = Pick<ConfigurationFile, "Pipeline" | "AutoRetryOnTransientFailure" | "QuotaRetry">

const milliseconds = (seconds: number) => Math.round(seconds * 1_000)

/** The settings that an item of a project with those overrides is treated by. */
export const itemSettingsOf = (
  { Pipeline, AutoRetryOnTransientFailure: retry, QuotaRetry }: Sections,
  overrides: WorkItemOverrides = {}
): WorkItemSettings => ({
  failingSeverity: Pipeline.FailingSeverity,
  autoMerge: Pipeline.AutoMerge,
  maxAuditIterations: Pipeline.MaxAuditIterations,
  maxReworkAttempts: Pipeline.MaxReworkAttempts,
  maxRecoveryAttempts: Pipeline.MaxRecoveryAttempts,
  maxUpstreamPushAttempts: Pipeline.MaxUpstreamPushAttempts,
  maxQuotaRetries: QuotaRetry.MaxAttempts,
  maxTransientRetries: retry.MaxAttempts,
  transientBackoff: {
    initialMs: milliseconds(retry.InitialBackoffSeconds),
    maxMs: milliseconds(retry.MaxBackoffSeconds),
    jitter: retry.Jitter
  },
  retriesWhenStuck: Pipeline.AutoRetryOnStuck,
  delegatesAtAuditMax: Pipeline.DelegateAtAuditMax,
  delegatesAfterFailures: Pipeline.DelegateAfterFailures === 0 ? null : Pipeline.DelegateAfterFailures,
  ...overrides
})

/** An item in every state, brought there by possible inputs. */
import type { WorkItemStateName } from "#pipeline/contract"
import { inHand, type ItemAtWork, itemAtWork, readyFor } from "./item-at-work.ts"

const after = (item: ItemAtWork, ...steps: ReadonlyArray<(item: ItemAtWork) => unknown>) => {
  for (const step of steps) step(item)
  return item
}
const quotaHit = (item: ItemAtWork) =>
  item.reports("quota-hit", { reason: "quota", toAgent: null, toModel: null, resetAtMs: null })

export const itemIn: { readonly [State in WorkItemStateName]: () => ItemAtWork } = {
  Queued: () => itemAtWork(),
  Working: () => inHand("work"),
  WorkComplete: () => readyFor("audit"),
  Auditing: () => inHand("audit"),
  AuditPassed: () => readyFor("merge"),
  Reworking: () => inHand("rework"),
  AuditFailed: () => after(inHand("audit", { maxAuditIterations: 1 }), (item) => item.audited("Error")),
  Merging: () => inHand("merge"),
  Merged: () => readyFor("upstream"),
  UpstreamPushing: () => inHand("upstream"),
  Done: () => after(inHand("upstream"), (item) => item.reports("push-ended", { outcome: "pushed", reason: null })),
  Failed: () => after(inHand("work"), (item) => item.reports("failed", { reason: "no", failureKind: "infra" })),
  Cancelled: () => after(itemAtWork(), (item) => item.does({ _tag: "Cancel", reason: null, resolutionSha: null })),
  NoActionRequired: () =>
    after(inHand("work"), (item) =>
      item.reports("iteration-ended", { outcome: "no-action", commitSha: null, durationMs: 1 })
    ),
  NeedsOperatorInput: () =>
    after(inHand("work"), (item) =>
      item.reports("questions-asked", { questions: [{ questionId: "q", questionText: "Which?" }] })
    ),
  WaitingForAgentResume: () =>
    after(itemAtWork(), (item) => item.does({ _tag: "ParkForAgent", reason: "smith is paused" })),
  WaitingForTransientRetry: () =>
    after(inHand("work"), (item) => item.reports("transient-failed", { reason: "reset" })),
  WaitingForQuotaReset: () => after(inHand("work"), quotaHit),
  Delegated: () => inHand("delegation"),
  ConflictRework: () => inHand("conflict-rework"),
  MergeConflictResolutionFailed: () =>
    after(inHand("conflict-rework"), (item) =>
      item.reports("conflict-rework-ended", { outcome: "rejected", reason: null })
    ),
  AbandonedAfterRecoveryAttempts: () =>
    after(inHand("work", { maxRecoveryAttempts: 0 }), (item) => item.reports("agent-died", { reason: "exit 137" }))
}

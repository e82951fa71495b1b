/** A release under test, and the commands that bring it through its states. */
import { ReleaseCommand, type ReleaseCommandOf, type ReleaseStateName } from "#pipeline/contract"
import { release } from "#pipeline"
import { entityAtWork, uuid } from "../entity-at-work.ts"
import { wireProject } from "../wire-item.ts"

export const create: ReleaseCommandOf<"Create"> = {
  _tag: "Create",
  name: "Spring",
  project: wireProject,
  sourceBranch: "release/spring",
  targetBranch: "main",
  description: null
}
export const add = (number: number) =>
  ({ _tag: "AddWorkItem", workItemId: uuid(number), title: `Item ${number}` }) as const
export const end = (number: number, outcome: "done" | "failed" | "cancelled") =>
  ({ _tag: "EndWorkItem", workItemId: uuid(number), outcome }) as const
export const returned = (number: number) => ({ _tag: "ReturnWorkItem", workItemId: uuid(number) }) as const
export const close = { _tag: "Close", reason: null } as const
export const begin = { _tag: "BeginDeepAudit", auditId: "a1", maxIterations: 3 } as const
export const remediation = (number: number) => ({
  workItemId: uuid(number),
  title: "Mend the fence",
  instructions: null,
  agent: "smith"
})
export const iterated = (
  iteration: number,
  blockingFindings: number,
  changes: Partial<ReleaseCommandOf<"CompleteAuditIteration">> = {}
): ReleaseCommandOf<"CompleteAuditIteration"> => ({
  _tag: "CompleteAuditIteration",
  auditId: "a1",
  iteration,
  maxIterations: 3,
  blockingFindings,
  totalFindings: blockingFindings + 2,
  remediation: null,
  ...changes
})
export const publish = { _tag: "Publish", mergeSha: "abc1234", forgeReleaseUrl: null } as const
export const reopen = { _tag: "Reopen", reason: "mended by hand" } as const
export const abandon = { _tag: "Abandon", reason: "too late" } as const
export const conflict = (sourceBranch = "main") =>
  ({ _tag: "ReportSyncConflict", sourceBranch, targetBranch: "release/spring", sweepIntervalMs: 60_000 }) as const

export const releaseId = uuid(1)

/** A release in that state, and the commands that led to it. */
export const releaseIn = (state: ReleaseStateName) => {
  const entity = entityAtWork(release, ReleaseCommand, releaseId)
  entity.does(create)
  const ways: Record<ReleaseStateName, ReadonlyArray<ReleaseCommand>> = {
    open: [],
    closed: [close],
    in_review: [close, begin],
    published: [close, begin, publish],
    failed: [close, begin, iterated(3, 1)],
    abandoned: [abandon]
  }
  for (const command of ways[state]) entity.does(command)
  return entity
}

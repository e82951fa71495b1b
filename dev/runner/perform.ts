/**
 * One dispatch from its beginning to its report: a clone, the phase, signs of life while it lasts, and always a report
 * at the end. When the runner is told to stop in the middle, the item is handed back. When the item is cancelled or
 * given to another runner, the phase is stopped. The spending is reported however it ended.
 */
import { Effect, type Semaphore } from "effect"
import type { PickupDispatch, WorkItemPhase } from "#pipeline/contract"
import type { GitFailed } from "./git/git.ts"
import { openWorkspace, removeWorkspace, type Workspace } from "./git/workspace.ts"
import type { RunnerOptions } from "./options.ts"
import { audit } from "./phases/audit.ts"
import { conflictRework } from "./phases/conflict-rework.ts"
import { merge } from "./phases/merge.ts"
import { type PhaseTools, reasonOf } from "./phases/outcome.ts"
import { upstream } from "./phases/upstream.ts"
import { work } from "./phases/work.ts"
import { type Report, type ReportBody, reporterOf, sendReport } from "./Reporter.ts"
import { freeBytes } from "./free-bytes.ts"
import { spending as spendingOf } from "./spending.ts"
import { untilOver } from "./until-over.ts"

type Phase = (tools: PhaseTools, workspace: Workspace, options: RunnerOptions) => Effect.Effect<ReportBody, GitFailed>

const phases: Record<WorkItemPhase, Phase> = {
  work,
  rework: work,
  delegation: work,
  audit,
  merge,
  "conflict-rework": conflictRework,
  upstream
}

const deferralMs = 60_000

export const perform = Effect.fn("perform")(function* (
  dispatch: PickupDispatch,
  options: RunnerOptions,
  pushes: Semaphore.Semaphore
) {
  const report = yield* reporterOf(dispatch)
  if (yield* isDiskShort(dispatch, options)) return
  const spending = spendingOf()
  const running = runPhase({ dispatch, report, spending, pushes }, options).pipe(
    Effect.timeoutOrElse({
      duration: dispatch.phaseTimeoutMs,
      orElse: () => Effect.succeed(overdue(dispatch))
    }),
    Effect.catch((error) => Effect.succeed(failureOf(error))),
    Effect.raceFirst(signsOfLife(report, dispatch.progressEveryMs)),
    Effect.map((end): PhaseResult => ({ _tag: "Ended", end })),
    Effect.raceFirst(Effect.map(untilOver(dispatch), (state): PhaseResult => ({ _tag: "Over", state }))),
    // Even within an uninterruptible region of the caller's.
    Effect.interruptible,
    Effect.onInterrupt(() => report({ kind: "preempted", ...spending.takeUnreported() }))
  )
  const done = yield* running
  const about = { phase: dispatch.phase, workItem: dispatch.workItem.id }
  const spent = spending.takeUnreported()
  if (done._tag === "Over") {
    if (spent.usage !== undefined) yield* report({ kind: "progress", ...spent })
    return yield* Effect.logInfo("a phase was stopped", { ...about, state: done.state })
  }
  yield* report({ ...done.end, ...spent })
  yield* Effect.logInfo("a phase ended", { ...about, report: done.end.kind })
})

/** `Over`: the item belongs to another runner, or to none, and is in that state. */
type PhaseResult =
  | { readonly _tag: "Ended"; readonly end: ReportBody }
  | { readonly _tag: "Over"; readonly state: string | null }

const runPhase = Effect.fnUntraced(function* (tools: PhaseTools, options: RunnerOptions) {
  const workspace = yield* openWorkspace(options.folder, tools.dispatch)
  const end = yield* phases[tools.dispatch.phase](tools, workspace, options)
  if (isLast(end)) yield* removeWorkspace(workspace, end.kind === "push-ended")
  return end
})

/** The runner has no more to do with the item, or not soon. */
const isLast = (end: ReportBody) => {
  if (end.kind === "push-ended") return end.outcome === "pushed"
  return end.kind === "check-verdict" || end.kind === "failed" || end.kind === "auth-failed"
}

const signsOfLife = (report: Report, everyMs: number) =>
  report({ kind: "progress" }).pipe(Effect.delay(everyMs), Effect.forever)

const failureOf = ({ message, isRemote }: GitFailed): ReportBody => {
  const reason = reasonOf(message, "git failed")
  return isRemote ? { kind: "transient-failed", reason } : { kind: "failed", reason, failureKind: "infra" }
}

const overdue = ({ phase, phaseTimeoutMs }: PickupDispatch): ReportBody => ({
  kind: "failed",
  reason: `${phase} took longer than ${Math.round(phaseTimeoutMs / 1_000)} s`,
  failureKind: "infra"
})

/** Nothing is cloned onto a disk that is nearly full. */
const isDiskShort = Effect.fnUntraced(function* (dispatch: PickupDispatch, { folder, name }: RunnerOptions) {
  const { minFreeBytes, dispatchId, dispatchedAtMs, workItem } = dispatch
  const free = yield* freeBytes(folder)
  if (free >= minFreeBytes) return false
  yield* sendReport("disk-deferred", {
    workItemId: workItem.id,
    dispatchId,
    runner: name,
    mountPath: folder,
    freeBytes: free,
    thresholdBytes: minFreeBytes,
    suggestedRetryAtMs: dispatchedAtMs + deferralMs
  })
  return true
})

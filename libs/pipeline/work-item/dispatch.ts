/**
 * A runner takes a phase: only the one that the item is ready for, and only when no other runner has it. The settings
 * of that moment hold until the next dispatch. A working runner reports progress. The item records it no finer than
 * watchdogs need, because each time is a record.
 *
 * A project's budget, a full disk or the provider of sandboxes can put work off. The item stays ready, or becomes ready
 * again when its launch was refused, and no runner takes it before the suggested time.
 */
import { isoTime } from "#base"
import type { WorkItemDeferral, WorkItemDispatch, WorkItemState } from "#pipeline/contract"
import { type Concern, decided, itemEvent, nothing, refused, silent } from "./concern.ts"
import { activeState, isReady, iterationOf, phaseOf, readyState, undispatched } from "./states.ts"

export const dispatching = {
  commands: {
    Dispatch: (item, { _tag, auditors, settings, ...taken }, { atMs }) => {
      if (item.lastDispatchId === taken.dispatchId) return nothing
      if (item.dispatch !== null) return refused(item, "another runner has it")
      if (!isReady(item) || item.phase !== taken.phase) {
        return refused(item, `it is ready for ${item.phase ?? "nothing"}, not for ${taken.phase}`)
      }
      if (item.notBeforeMs !== null && atMs < item.notBeforeMs) {
        return refused(item, `it is not to be taken before ${isoTime(item.notBeforeMs)}`)
      }
      const iteration = iterationOf(item, taken.phase)
      const dispatch: WorkItemDispatch = { ...taken, iteration, atMs, lastProgressAtMs: atMs }
      return decided({ _tag: "Dispatched", dispatch, auditors, settings, from: item.state })
    },
    Defer: (item, { dispatchId, deferral }) => {
      if (dispatchId !== null && dispatchId !== item.dispatch?.dispatchId) return nothing
      if (dispatchId === null && item.dispatch !== null) return refused(item, "a runner has it")
      if (item.notBeforeMs !== null && item.notBeforeMs >= deferral.suggestedRetryAtMs) return nothing
      const resumeState = item.dispatch === null ? item.state : readyState[item.dispatch.phase]
      return decided({ _tag: "Deferred", deferral, resumeState })
    }
  },
  reports: {
    progress: (_item, _report, { dispatch, atMs }) =>
      atMs - dispatch.lastProgressAtMs < (dispatch.progressGrainMs ?? progressGrainMsMax)
        ? nothing
        : decided({ _tag: "Progressed" })
  },
  evolve: {
    Dispatched: (item, { dispatch, settings }) => ({
      state: activeState[dispatch.phase],
      phase: dispatch.phase,
      dispatch,
      lastDispatchId: dispatch.dispatchId,
      lastDispatchIn: { run: item.run, iteration: dispatch.iteration },
      settings,
      notBeforeMs: null,
      upstreamPushAttempts: item.upstreamPushAttempts + (dispatch.phase === "upstream" ? 1 : 0)
    }),
    Progressed: (item, _fact, { atMs }) =>
      item.dispatch === null ? {} : { dispatch: { ...item.dispatch, lastProgressAtMs: atMs } },
    Deferred: (item, { deferral, resumeState }) => ({
      ...undispatched(resumeState),
      phase: phaseOf(item),
      notBeforeMs: deferral.suggestedRetryAtMs
    })
  },
  events: {
    Dispatched: (item, { dispatch, auditors, from }, context) => {
      const { phase, iteration } = dispatch
      const of = { workItemId: context.id, iteration }
      const emit = (event: string, details: Readonly<Record<string, unknown>> | null = null) =>
        itemEvent(item, context, { event, details })
      const started = () => emit("iteration.started", { ...of, phase, dispatchedAt: isoTime(dispatch.atMs) })
      switch (phase) {
        case "work":
          return [emit("work_item.working"), started()]
        case "rework":
          // The blocking audit already made the event; it is repeated only if the item has left that state since.
          return from === "Reworking" ? [started()] : [emit("work_item.reworking"), started()]
        case "audit":
          return [emit("work_item.auditing"), emit("audit.started", { ...of, auditorsScheduled: auditors })]
        case "merge":
          return [emit("work_item.merging"), emit("merge.started", branches(item, context.id))]
        case "upstream":
          return [emit("work_item.upstream_pushing")]
        default:
          return []
      }
    },
    Progressed: silent,
    Deferred: (item, { deferral, resumeState }, context) => [
      itemEvent(item, context, {
        event: deferralEvents[deferral.kind],
        details: {
          ...deferralDetails(deferral),
          ...(deferral.kind === "sandbox" ? { resumeState } : {})
        }
      })
    ]
  }
} satisfies Concern

// A watchdog waits for minutes unless it is configured otherwise.
const progressGrainMsMax = 10_000

/**
 * The grain of recorded progress. A runner that reports every `everyMs` never appears silent for `timeoutMs`, whatever
 * the two are.
 */
export const progressGrainMs = (everyMs: number, timeoutMs: number): number =>
  Math.max(0, Math.min(progressGrainMsMax, Math.floor((timeoutMs - everyMs) / 2)))

/** The branches in the events of a merge. */
export const branches = (item: WorkItemState, workItemId: string) => ({
  workItemId,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch
})

const deferralEvents = {
  budget: "budget.deferred",
  disk: "disk.deferred",
  sandbox: "sandbox.provisioning_deferred"
} as const

const deferralDetails = ({ kind: _kind, suggestedRetryAtMs, ...details }: WorkItemDeferral) => ({
  ...details,
  suggestedRetryAt: isoTime(suggestedRetryAtMs)
})

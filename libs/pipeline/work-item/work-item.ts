/**
 * The work item actor. Each command goes to its concern. An item that does not exist can only be created; a report of a
 * finished dispatch changes nothing; an input that the table of transitions does not list is refused. The cost in a
 * report counts once, together with the report's other facts, or alone.
 */
import { Result, Schema } from "effect"
import {
  type ActorDefinition,
  type DecisionContext,
  EntityNotFound,
  type EventDraft,
  type Projection
} from "#actors/definition"
import {
  type WorkItemCommand,
  type WorkItemCommandOf,
  type WorkItemDeadline,
  WorkItemFact,
  type WorkItemReport,
  WorkItemState,
  type WorkItemSummary
} from "#pipeline/contract"
import { audit, work } from "./work.ts"
import { conflicts, merge, overdue } from "./merge.ts"
import {
  type AsideDeciders,
  type CommandDeciders,
  type Decision,
  type EventsByFact,
  type Evolvers,
  type InHandContext,
  type InHandDeciders,
  type Input,
  nothing,
  refused,
  type ReportContext
} from "./concern.ts"
import { dispatching } from "./dispatch.ts"
import { failures } from "./failures.ts"
import { recovery } from "./recovery.ts"
import { create, created, lifetime } from "./lifetime.ts"
import { questions } from "./questions.ts"
import { isEnded, isParked, isReady, refusalOf, transitions } from "./states.ts"
import { usage, usageAdded } from "./usage.ts"
import { waits } from "./waits.ts"

const decide: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact>["decide"] = (
  item,
  command,
  context
) => {
  if (command._tag === "Create") {
    return item === null ? create(command, context) : refused(item, "an item of that id is there already")
  }
  if (item === null) return Result.fail(new EntityNotFound({ entity: "workitem", id: context.id }))
  const decision =
    command._tag === "Report"
      ? decideReport(item, command, context)
      : (listed(item, command._tag) ?? ofCommand(item, command, context))
  return Result.flatMap(decision, (facts) => withOverdue(item, facts, context))
}

/** Adds the conflict that waited for the item to be free to the facts that free it. */
const withOverdue = (item: WorkItemState, facts: ReadonlyArray<WorkItemFact>, context: DecisionContext): Decision => {
  if (facts.length === 0 || item.staleHeads?.isAwaited !== true) return Result.succeed(facts)
  const after = facts.reduce<WorkItemState | null>((inner, fact) => evolve(inner, fact, context), item)
  return after === null ? nothing : Result.map(overdue(after), (more) => [...facts, ...more])
}

/** The decision of the table alone: refused when not listed, nothing when it leads nowhere. */
const listed = (item: WorkItemState, input: Input): Decision | undefined => {
  const next = transitions[item.state][input]
  if (next === undefined) return refused(item, refusalOf(item.state, input))
  return next.length === 0 ? nothing : undefined
}

const decideReport = (
  item: WorkItemState,
  command: WorkItemCommandOf<"Report">,
  context: DecisionContext
): Decision => {
  const { report, jitter, freshWorkItemId } = command
  const decision = isLate(item, report)
    ? nothing
    : (listed(item, report.kind) ?? ofReport(item, report, { ...context, jitter, freshWorkItemId }))
  const spent = usageAdded(item, report)
  return spent === undefined ? decision : Result.map(decision, (facts) => [spent, ...facts])
}

/**
 * The report belongs to a finished dispatch. An agent that asked the operator can keep asking: for its questions the
 * dispatch is not over.
 */
const isLate = (item: WorkItemState, report: WorkItemReport) => {
  if (report.kind === "recheck-completed") return false
  if (report.dispatchId === item.dispatch?.dispatchId) return false
  const isAside = report.kind === "questions-asked" || report.kind === "suggestions-made"
  return !(isAside && item.state === "NeedsOperatorInput" && report.dispatchId === item.lastDispatchId)
}

// A command and its decider have the same tag, which the compiler cannot see when each is looked up apart.
const ofCommand = <Command extends Exclude<WorkItemCommand, { readonly _tag: "Create" | "Report" }>>(
  item: WorkItemState,
  command: Command,
  context: DecisionContext
): Decision =>
  (commandDeciders[command._tag] as (item: WorkItemState, command: Command, context: DecisionContext) => Decision)(
    item,
    command,
    context
  )

const ofReport = (item: WorkItemState, report: WorkItemReport, context: ReportContext): Decision => {
  type Aside = (item: WorkItemState, report: WorkItemReport, context: ReportContext) => Decision
  type InHand = (item: WorkItemState, report: WorkItemReport, context: InHandContext) => Decision
  if (report.kind === "questions-asked" || report.kind === "suggestions-made" || report.kind === "recheck-completed") {
    return (asideDeciders[report.kind] as Aside)(item, report, context)
  }
  const { dispatch } = item
  return dispatch === null ? nothing : (reportDeciders[report.kind] as InHand)(item, report, { ...context, dispatch })
}

// A fact and its function have the same tag, which the compiler cannot see when each is looked up apart.
type Evolve = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => Partial<WorkItemState>
type ToEvents = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => ReadonlyArray<EventDraft>

/** The item after the fact; null until it is created. */
const evolve = (item: WorkItemState | null, fact: WorkItemFact, context: DecisionContext): WorkItemState | null => {
  if (fact._tag === "Created") return created(fact, context)
  if (item === null) return null
  const changed = (evolvers[fact._tag] as Evolve)(item, fact, context)
  // A phase that was moved to an agent stays with it; any agent can take the next phase.
  const assigned = changed.phase === undefined || changed.phase === item.phase ? {} : { assignedAgent: null }
  return { ...item, ...assigned, ...changed, updatedAtMs: context.atMs }
}

const toEvents = (
  item: WorkItemState | null,
  fact: WorkItemFact,
  context: DecisionContext
): ReadonlyArray<EventDraft> => (item === null ? [] : (eventsByFact[fact._tag] as ToEvents)(item, fact, context))

const commandDeciders: CommandDeciders = {
  ...conflicts.commands,
  ...dispatching.commands,
  ...failures.commands,
  ...lifetime.commands,
  ...questions.commands,
  ...recovery.commands,
  ...waits.commands
}
const reportDeciders: InHandDeciders = {
  ...audit.reports,
  ...conflicts.reports,
  ...dispatching.reports,
  ...failures.reports,
  ...merge.reports,
  ...recovery.reports,
  ...waits.reports,
  ...work.reports
}
const asideDeciders: AsideDeciders = { ...questions.asides, ...work.asides }
const evolvers: Evolvers = {
  ...audit.evolve,
  ...conflicts.evolve,
  ...dispatching.evolve,
  ...failures.evolve,
  ...lifetime.evolve,
  ...merge.evolve,
  ...questions.evolve,
  ...recovery.evolve,
  ...usage.evolve,
  ...waits.evolve,
  ...work.evolve
}
const eventsByFact: EventsByFact = {
  ...audit.events,
  ...conflicts.events,
  ...dispatching.events,
  ...failures.events,
  ...lifetime.events,
  ...merge.events,
  ...questions.events,
  ...recovery.events,
  ...usage.events,
  ...waits.events,
  ...work.events
}

/** Null: no item of that id is known. */
export const workItem: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  fact: WorkItemFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve,
  toEvents,
  begins: ({ _tag }) => _tag === "Create",
  retires: (fact) => fact._tag === "Retired"
}

/** A work item's row for lists and sweeps. It has a deadline only if something must act by then. */
export const workItemProjection: Projection<WorkItemState | null> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  show: (item) =>
    item === null
      ? undefined
      : {
          project: item.projectId,
          state: item.state,
          createdAtMs: item.createdAtMs,
          updatedAtMs: item.updatedAtMs,
          deadlinesMs: deadlinesOf(item),
          summary: { ...summaryOf(item) }
        }
}

const deadlinesOf = (item: WorkItemState): Readonly<Record<string, number>> => {
  // An item in a queue, for a runner or for delegation, is not stale, however long it takes.
  const isQueued = item.state === "Queued" || (item.state === "Delegated" && item.dispatch === null)
  const isMoving = !isQueued && !isParked(item.state) && !isEnded(item.state)
  const deadlines: Record<WorkItemDeadline, number | null> = {
    lastProgress: item.dispatch?.lastProgressAtMs ?? null,
    stale: isMoving ? item.updatedAtMs : null,
    retryAt: item.retryAtMs,
    quotaResetAt: item.quotaResetAtMs,
    ended: item.endedAtMs
  }
  return Object.fromEntries(Object.entries(deadlines).filter((entry): entry is [string, number] => entry[1] !== null))
}

const summaryOf = (item: WorkItemState): WorkItemSummary => ({
  title: item.title,
  kind: item.kind,
  agent: item.agent,
  assignedAgent: item.assignedAgent,
  priority: item.priority,
  phase: item.phase,
  isReady: isReady(item),
  notBeforeMs: item.notBeforeMs,
  dispatchId: item.dispatch?.dispatchId ?? null,
  runner: item.dispatch?.runner ?? null,
  agentAtWork: item.dispatch?.agent ?? null,
  run: item.run,
  auditedIterations: item.auditedIterations,
  externalId: item.externalId,
  releaseId: item.releaseId,
  originCheckWorkItemId: item.originCheckWorkItemId,
  repositoryUrl: item.project.repositoryUrl,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch,
  lastError: item.lastError,
  failureKind: item.failureKind,
  failedAgent: item.failedAgent,
  openQuestionIds: item.openQuestions.map(({ questionId }) => questionId),
  recoveryAttempts: item.recoveryAttempts,
  quotaRetries: item.quotaRetries,
  transientRetries: item.transientRetries,
  upstreamPushAttempts: item.upstreamPushAttempts,
  conflictReworks: item.conflictReworks,
  terminalFailures: item.terminalFailures,
  pullRequestNumber: item.pullRequest?.number ?? null,
  pullRequestUrl: item.pullRequest?.url ?? null,
  isPullRequestOpen: item.pullRequest !== null && item.pullRequest.mergedSha === null,
  costTotalMicroUsd: item.usageTotal?.costMicroUsd ?? null
})

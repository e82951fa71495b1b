/**
 * From a command to its concern: an item that is not there can only be created; a report of a dispatch that is over
 * changes nothing; what the table does not list is refused. What a report says was spent is counted once, with what
 * the report leads to, and alone when that is nothing.
 */
import { Result } from "effect"
import { type ActorDefinition, type DecisionContext, EntityNotFound } from "#actors/definition"
import type { WorkItemCommand, WorkItemCommandOf, WorkItemFact, WorkItemReport, WorkItemState } from "#contracts"
import { auditDeciders } from "./audit.ts"
import { cancellationDeciders } from "./cancellation.ts"
import { recheckDeciders, verdictDeciders } from "./checks.ts"
import { conflictDeciders, conflictReportDeciders, overdue } from "./conflicts.ts"
import { create, retirementDeciders } from "./creation.ts"
import type { CommandDeciders, Decision, Given, InHandDeciders, Input, OtherDeciders } from "./decisions.ts"
import { nothing, refused } from "./decisions.ts"
import { deferralDeciders } from "./deferral.ts"
import { delegationDeciders } from "./delegation.ts"
import { dispatchDeciders, progressDeciders } from "./dispatch.ts"
import { evolve } from "./evolve.ts"
import { failureDeciders } from "./failures.ts"
import { iterationDeciders } from "./iteration.ts"
import { mergeDeciders } from "./merge.ts"
import { questionDeciders, questionReportDeciders } from "./questions.ts"
import { crashDeciders, recoveryDeciders } from "./recovery.ts"
import { retryDeciders, stuckDeciders } from "./retries.ts"
import { suggestionDeciders } from "./suggestions.ts"
import { refusalOf, transitions } from "./transitions.ts"
import { upstreamDeciders } from "./upstream.ts"
import { usageAdded } from "./usage.ts"
import { waitDeciders, waitReportDeciders } from "./waits.ts"

const commandDeciders: CommandDeciders = {
  ...cancellationDeciders,
  ...conflictDeciders,
  ...deferralDeciders,
  ...delegationDeciders,
  ...dispatchDeciders,
  ...questionDeciders,
  ...recoveryDeciders,
  ...retirementDeciders,
  ...retryDeciders,
  ...waitDeciders
}

const inHandDeciders: InHandDeciders = {
  ...auditDeciders,
  ...conflictReportDeciders,
  ...crashDeciders,
  ...failureDeciders,
  ...iterationDeciders,
  ...mergeDeciders,
  ...progressDeciders,
  ...stuckDeciders,
  ...upstreamDeciders,
  ...verdictDeciders,
  ...waitReportDeciders
}

const otherDeciders: OtherDeciders = { ...questionReportDeciders, ...recheckDeciders, ...suggestionDeciders }

export const decide: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact>["decide"] = (
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

/** What the facts clear the way for comes with them. */
const withOverdue = (item: WorkItemState, facts: ReadonlyArray<WorkItemFact>, context: DecisionContext): Decision => {
  if (facts.length === 0 || item.staleHeads?.isAwaited !== true) return Result.succeed(facts)
  const after = facts.reduce<WorkItemState | null>((inner, fact) => evolve(inner, fact, context), item)
  return after === null ? nothing : Result.map(overdue(after), (more) => [...facts, ...more])
}

/** What the table alone decides: refused when not listed, nothing when it leads nowhere. */
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
  const usage = usageAdded(item, report)
  return usage === undefined ? decision : Result.map(decision, (facts) => [usage, ...facts])
}

/** Of a dispatch that is over. Who asked the operator may go on asking: that dispatch is over only for the others. */
const isLate = (item: WorkItemState, report: WorkItemReport) => {
  if (report.kind === "recheck-completed") return false
  if (report.dispatchId === item.dispatch?.dispatchId) return false
  const isAside = report.kind === "questions-asked" || report.kind === "suggestions-made"
  return !(isAside && item.state === "NeedsOperatorInput" && report.dispatchId === item.lastDispatchId)
}

// A member of the union and its own decider are of one tag; the compiler cannot tell that of two looked up apart.
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

const ofReport = (item: WorkItemState, report: WorkItemReport, given: Given): Decision => {
  type Aside = (item: WorkItemState, report: WorkItemReport, given: Given) => Decision
  type InHand = (
    item: WorkItemState,
    report: WorkItemReport,
    dispatch: NonNullable<WorkItemState["dispatch"]>,
    given: Given
  ) => Decision
  if (report.kind === "questions-asked" || report.kind === "suggestions-made" || report.kind === "recheck-completed") {
    return (otherDeciders[report.kind] as Aside)(item, report, given)
  }
  return item.dispatch === null ? nothing : (inHandDeciders[report.kind] as InHand)(item, report, item.dispatch, given)
}

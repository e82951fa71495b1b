/**
 * The shape of a concern: the inputs that it decides, the state that its facts lead to, and their events. An input is a
 * command or a kind of report, so that each has a row of its own in the table of transitions.
 */
import { Result } from "effect"
import { type DecisionContext, type EventDraft, Refusal } from "#actors/definition"
import { isoTime, type WorkItem } from "#base"
import type {
  WorkItemCommandOf,
  WorkItemCommandTag,
  WorkItemCost,
  WorkItemDispatch,
  WorkItemFact,
  WorkItemFactOf,
  WorkItemFactTag,
  WorkItemReportKind,
  WorkItemReportOf,
  WorkItemState
} from "#pipeline/contract"

export type Decision = Result.Result<ReadonlyArray<WorkItemFact>, Refusal>

/** Commands on an existing item; reports have their own kinds. */
type CommandInput = Exclude<WorkItemCommandTag, "Create" | "Report">
/** Reports that only the current dispatch can make. */
type InHandKind = Exclude<WorkItemReportKind, "questions-asked" | "suggestions-made" | "recheck-completed">
export type Input = CommandInput | WorkItemReportKind

/** The context of a decision on a report, beside state and report. */
export interface ReportContext extends DecisionContext {
  readonly jitter: number
  readonly freshWorkItemId: string
}
/** The report belongs to the current dispatch. */
export interface InHandContext extends ReportContext {
  readonly dispatch: WorkItemDispatch
}

export type CommandDeciders = {
  readonly [Tag in CommandInput]: (
    item: WorkItemState,
    command: WorkItemCommandOf<Tag>,
    context: DecisionContext
  ) => Decision
}
export type InHandDeciders = {
  readonly [Kind in InHandKind]: (
    item: WorkItemState,
    report: WorkItemReportOf<Kind>,
    context: InHandContext
  ) => Decision
}
export type AsideDeciders = {
  readonly [Kind in Exclude<WorkItemReportKind, InHandKind>]: (
    item: WorkItemState,
    report: WorkItemReportOf<Kind>,
    context: ReportContext
  ) => Decision
}

/** The change that a fact makes to the state; the actor adds the time of the change. */
export type Evolvers = {
  readonly [Tag in Exclude<WorkItemFactTag, "Created">]: (
    item: WorkItemState,
    fact: WorkItemFactOf<Tag>,
    context: DecisionContext
  ) => Partial<WorkItemState>
}
/** `item`: the state after the fact. */
export type EventsByFact = {
  readonly [Tag in WorkItemFactTag]: (
    item: WorkItemState,
    fact: WorkItemFactOf<Tag>,
    context: DecisionContext
  ) => ReadonlyArray<EventDraft>
}

/** One topic in the life of an item. The actor is all of them together. */
export interface Concern {
  readonly commands?: Partial<CommandDeciders>
  /** Reports that only the current dispatch can make. */
  readonly reports?: Partial<InHandDeciders>
  /** Reports that can come from elsewhere too. */
  readonly asides?: Partial<AsideDeciders>
  readonly evolve: Partial<Evolvers>
  readonly events: Partial<EventsByFact>
}

export const decided = (...facts: ReadonlyArray<WorkItemFact>): Decision => Result.succeed(facts)

/** The decision on a late or repeated command: it changes nothing. */
export const nothing: Decision = Result.succeed([])

export const refused = (item: WorkItemState, reason: string): Decision =>
  Result.fail(new Refusal({ state: item.state, reason }))

/** Facts that have no event. */
export const silent = () => []

const microUsdPerUsd = 1_000_000

type Details = Readonly<Record<string, unknown>> | null

/**
 * An event about the item, made from the state after the fact. Money is published in US dollars. Where no cost is known
 * the usage block is omitted, because a receiver would read zero as a cost of zero.
 */
export const itemEvent = (
  item: WorkItemState,
  { id }: DecisionContext,
  { event, details = null }: { readonly event: string; readonly details?: Details }
): EventDraft => ({
  event,
  workItem: eventItem(id, item),
  project: item.project,
  details,
  ...(item.usage === null ? {} : { usage: { iteration: item.usage.iteration, ...wireCost(item.usage) } }),
  ...(item.usageTotal === null ? {} : { usageTotal: wireCost(item.usageTotal) })
})

/** An event of the fleet at large that an item caused. */
export const fleetEvent = (event: string, details: Details): EventDraft => ({
  event,
  workItem: null,
  project: null,
  details
})

/** The item as events carry it. */
export const eventItem = (id: string, item: WorkItemState): WorkItem => ({
  id,
  externalId: item.externalId,
  projectId: item.projectId,
  title: item.title,
  agent: item.agent,
  repositoryUrl: item.project.repositoryUrl,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch,
  state: item.state,
  createdAt: isoTime(item.createdAtMs),
  updatedAt: isoTime(item.updatedAtMs),
  lastError: item.lastError,
  upstreamPushAttempts: item.upstreamPushAttempts
})

const wireCost = ({ costMicroUsd, ...cost }: WorkItemCost) => ({
  tokensInput: cost.tokensInput,
  tokensOutput: cost.tokensOutput,
  tokensReasoning: cost.tokensReasoning,
  tokensCached: cost.tokensCached,
  costUsd: costMicroUsd / microUsdPerUsd,
  elapsedMs: cost.elapsedMs
})

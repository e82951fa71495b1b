/**
 * The shape that every concern of a work item is written in: the inputs that it decides, what its facts make of the
 * state, and which events tell of them. An input is a command or a kind of report, so that each has a row of its own in
 * the table of transitions.
 */
import { Result } from "effect"
import { type EventDraft, type DecisionContext, Refusal } from "#actors/definition"
import type {
  WorkItemCommandOf,
  WorkItemCommandTag,
  WorkItemDispatch,
  WorkItemFact,
  WorkItemFactOf,
  WorkItemFactTag,
  WorkItemReportKind,
  WorkItemReportOf,
  WorkItemState
} from "#contracts"

export type Decision = Result.Result<ReadonlyArray<WorkItemFact>, Refusal>

/** Commands on an item that is there; reports come by their kinds. */
type CommandInput = Exclude<WorkItemCommandTag, "Create" | "Report">
/** Reports that only the dispatch in hand can make. */
type InHandKind = Exclude<WorkItemReportKind, "questions-asked" | "suggestions-made" | "recheck-completed">
export type Input = CommandInput | WorkItemReportKind

/** What a decision on a report may go by beside state and report. */
export interface Given extends DecisionContext {
  readonly jitter: number
  readonly freshWorkItemId: string
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
    dispatch: WorkItemDispatch,
    given: Given
  ) => Decision
}
export type AsideDeciders = {
  readonly [Kind in Exclude<WorkItemReportKind, InHandKind>]: (
    item: WorkItemState,
    report: WorkItemReportOf<Kind>,
    given: Given
  ) => Decision
}

/** What a fact changes of the state; the time of the change is put to it. */
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
  /** Reports that only the dispatch in hand can make. */
  readonly reports?: Partial<InHandDeciders>
  /** Reports that may come from elsewhere too. */
  readonly asides?: Partial<AsideDeciders>
  readonly evolve: Partial<Evolvers>
  readonly events: Partial<EventsByFact>
}

export const decided = (...facts: ReadonlyArray<WorkItemFact>): Decision => Result.succeed(facts)

/** The command changes nothing: it comes late, or again. */
export const nothing: Decision = Result.succeed([])

export const refused = (item: WorkItemState, reason: string): Decision =>
  Result.fail(new Refusal({ state: item.state, reason }))

/** Facts that have no event. */
export const silent = () => []

/**
 * An agent's questions and suggestions to the operator. Their texts arrive here without secrets.
 *
 * A new question parks the item; further questions of a parked item only make events; a repeated one is ignored. Once
 * the last open one is answered or dismissed, the item waits for a runner of its earlier phase.
 *
 * A suggestion changes nothing. Its event omits the rationale, which stays in the log. Its id is the item's id and a
 * number, so that the id alone finds the item.
 */
import {
  openQuestionsMax,
  questionsMax,
  suggestionsMax,
  type WorkItemFactOf,
  type WorkItemReportOf,
  type WorkItemState
} from "#pipeline/contract"
import { type Concern, decided, type Decision, itemEvent, nothing, refused } from "./concern.ts"
import { phaseOf, readyFor, undispatched } from "./states.ts"

export const questions = {
  commands: {
    Answer: (item, { questionId, answer }) =>
      closing(item, questionId) ?? decided({ _tag: "QuestionAnswered", questionId, answer }),
    DismissQuestion: (item, { questionId, reason }) =>
      closing(item, questionId) ?? decided({ _tag: "QuestionDismissed", questionId, reason })
  },
  asides: {
    "questions-asked": (item, report) => {
      const asked = newQuestions(item, report)
      if (asked.length === 0) return nothing
      if (item.openQuestions.length + asked.length > openQuestionsMax) {
        return refused(item, `more than ${openQuestionsMax} questions would be open`)
      }
      if (item.questionIds.length + asked.length > questionsMax) {
        return refused(item, `it has asked ${item.questionIds.length} questions, and ${questionsMax} is the most`)
      }
      return item.state === "NeedsOperatorInput"
        ? decided(...asked)
        : decided({ _tag: "OperatorInputNeeded" }, ...asked)
    },
    "suggestions-made": (item, { suggestions }, { id }) =>
      item.suggestions + suggestions.length > suggestionsMax
        ? refused(item, `it has made ${item.suggestions} suggestions, and ${suggestionsMax} is the most`)
        : decided(
            ...suggestions.map((suggestion, index) => ({
              _tag: "SuggestionMade" as const,
              id: suggestionIdOf(id, item.suggestions + index + 1),
              ...suggestion
            }))
          )
  },
  evolve: {
    OperatorInputNeeded: (item) => ({ ...undispatched("NeedsOperatorInput"), phase: phaseOf(item) }),
    QuestionAsked: (item, { questionId, questionText }, { atMs }) => ({
      openQuestions: [...item.openQuestions, { questionId, questionText, askedAtMs: atMs }],
      questionIds: [...item.questionIds, questionId]
    }),
    QuestionAnswered: (item, fact) => closed(item, fact),
    QuestionDismissed: (item, fact) => closed(item, fact),
    SuggestionMade: (item) => ({ suggestions: item.suggestions + 1 })
  },
  events: {
    OperatorInputNeeded: (item, _fact, context) => [
      itemEvent(item, context, { event: "work_item.needs_operator_input" })
    ],
    QuestionAsked: (item, { _tag, ...question }, context) => [
      itemEvent(item, context, { event: "work_item.question_asked", details: question })
    ],
    QuestionAnswered: (item, { questionId, answer }, context) => [
      // The event has a field for the answerer, which is always null.
      itemEvent(item, context, {
        event: "work_item.question_answered",
        details: {
          ...place(item, context.id),
          questionId,
          answer,
          answeredBy: null
        }
      })
    ],
    QuestionDismissed: (item, { questionId, reason }, context) => [
      itemEvent(item, context, {
        event: "work_item.question_dismissed",
        details: { ...place(item, context.id), questionId, reason }
      })
    ],
    SuggestionMade: (item, { _tag, rationale: _rationale, ...details }, context) => [
      itemEvent(item, context, { event: "work_item.suggestion", details })
    ]
  }
} satisfies Concern

type Asked = WorkItemFactOf<"QuestionAsked">

const newQuestions = (item: WorkItemState, { questions }: WorkItemReportOf<"questions-asked">) => {
  const seen = new Set<string>(item.questionIds)
  const asked: Array<Asked> = []
  for (const { questionId, questionText } of questions) {
    if (seen.has(questionId)) continue
    seen.add(questionId)
    asked.push({ _tag: "QuestionAsked", questionId, questionText })
  }
  return asked
}

/** Why the question cannot be closed; undefined if it can. */
const closing = (item: WorkItemState, questionId: string): Decision | undefined => {
  if (item.openQuestions.some((open) => open.questionId === questionId)) return undefined
  const wasAsked = item.questionIds.includes(questionId)
  return refused(item, wasAsked ? `question ${questionId} is closed already` : `it has not asked ${questionId}`)
}

const closed = (item: WorkItemState, { questionId }: { readonly questionId: string }) => {
  const openQuestions = item.openQuestions.filter((open) => open.questionId !== questionId)
  return openQuestions.length > 0 ? { openQuestions } : { ...readyFor(phaseOf(item)), openQuestions }
}

const place = (item: WorkItemState, workItemId: string) => ({ workItemId, projectId: item.projectId })

const suggestionIdOf = (workItemId: string, number: number) => `${workItemId}-${number}`

/** The item that made a suggestion. */
export const workItemOfSuggestion = (suggestionId: string): string =>
  suggestionId.slice(0, Math.max(0, suggestionId.lastIndexOf("-")))

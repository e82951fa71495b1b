/**
 * Questions to the operator. A new one parks the item; one more while it is parked is only asked; one that was asked
 * before is passed over in silence. When the last open one is answered or dismissed, the item waits for a runner
 * of the phase it was in. Texts come here with their secrets removed.
 */
import {
  openQuestionsMax,
  questionsMax,
  type WorkItemFactOf,
  type WorkItemReportOf,
  type WorkItemState
} from "#contracts"
import {
  type EventsByFact,
  type CommandDeciders,
  decided,
  type Decision,
  type Evolvers,
  nothing,
  type OtherDeciders,
  refused
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { phaseOf, readyFor, standing } from "./phases.ts"

type Asked = WorkItemFactOf<"QuestionAsked">

export const questionReportDeciders = {
  "questions-asked": (item, report) => {
    const asked = newQuestions(item, report)
    if (asked.length === 0) return nothing
    if (item.openQuestions.length + asked.length > openQuestionsMax) {
      return refused(item, `more than ${openQuestionsMax} questions would be open`)
    }
    if (item.questionIds.length + asked.length > questionsMax) {
      return refused(item, `it has asked ${item.questionIds.length} questions, and ${questionsMax} is the most`)
    }
    return item.state === "NeedsOperatorInput" ? decided(...asked) : decided({ _tag: "OperatorInputNeeded" }, ...asked)
  }
} satisfies Partial<OtherDeciders>

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

export const questionDeciders = {
  Answer: (item, { questionId, answer }) =>
    closing(item, questionId) ?? decided({ _tag: "QuestionAnswered", questionId, answer }),
  DismissQuestion: (item, { questionId, reason }) =>
    closing(item, questionId) ?? decided({ _tag: "QuestionDismissed", questionId, reason })
} satisfies Partial<CommandDeciders>

/** Why the question cannot be closed. */
const closing = (item: WorkItemState, questionId: string): Decision | undefined => {
  if (item.openQuestions.some((open) => open.questionId === questionId)) return undefined
  const wasAsked = item.questionIds.includes(questionId)
  return refused(item, wasAsked ? `question ${questionId} is closed already` : `it has not asked ${questionId}`)
}

const closed = (item: WorkItemState, { questionId }: { readonly questionId: string }) => {
  const openQuestions = item.openQuestions.filter((open) => open.questionId !== questionId)
  return openQuestions.length > 0 ? { openQuestions } : { ...readyFor(phaseOf(item)), openQuestions }
}

export const questionEvolvers = {
  OperatorInputNeeded: (item) => ({ ...standing("NeedsOperatorInput"), phase: phaseOf(item) }),
  QuestionAsked: (item, { questionId, questionText }, { atMs }) => ({
    openQuestions: [...item.openQuestions, { questionId, questionText, askedAtMs: atMs }],
    questionIds: [...item.questionIds, questionId]
  }),
  QuestionAnswered: closed,
  QuestionDismissed: closed
} satisfies Partial<Evolvers>

const place = (item: WorkItemState, workItemId: string) => ({ workItemId, projectId: item.projectId })

export const questionEvents = {
  OperatorInputNeeded: (item, _fact, context) => [itemEvent(item, context, "work_item.needs_operator_input")],
  QuestionAsked: (item, { _tag, ...question }, context) => [
    itemEvent(item, context, "work_item.question_asked", question)
  ],
  QuestionAnswered: (item, { questionId, answer }, context) => [
    // Who answered is not told: the event's field is there, and always null.
    itemEvent(item, context, "work_item.question_answered", {
      ...place(item, context.id),
      questionId,
      answer,
      answeredBy: null
    })
  ],
  QuestionDismissed: (item, { questionId, reason }, context) => [
    itemEvent(item, context, "work_item.question_dismissed", { ...place(item, context.id), questionId, reason })
  ]
} satisfies Partial<EventsByFact>

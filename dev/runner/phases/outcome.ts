/** Outcomes that any phase of an agent may have beside its own: reports that end the dispatch. */
import { Effect, type Semaphore } from "effect"
import {
  errorCharactersMax,
  type PickupDispatch,
  questionsPerReportMax,
  suggestionsPerReportMax
} from "#pipeline/contract"
import type { AgentEnd } from "../agent.ts"
import { linesOf } from "../agent-lines.ts"
import type { Report, ReportBody } from "../Reporter.ts"
import type { Spending } from "../spending.ts"

/** Everything a phase is given. */
export interface PhaseTools {
  readonly dispatch: PickupDispatch
  readonly report: Report
  readonly spending: Spending
  /** One push to base branches at a time: two at once would only collide. */
  readonly pushes: Semaphore.Semaphore
}

/** A reason that fits into a report, never empty. */
export const reasonOf = (text: string, otherwise: string) =>
  (text.trim() === "" ? otherwise : text.trim()).slice(-errorCharactersMax)

const isProbed = new Set(["work", "rework", "merge"])

/** The report of a run that did not reach its phase's own end; undefined when it did. */
export const interruption = ({ phase }: PickupDispatch, end: AgentEnd): ReportBody | undefined => {
  const [quota] = linesOf(end.lines, "quota")
  if (quota !== undefined) {
    const { type: _type, ...given } = quota
    return { kind: "quota-hit", reason: reasonOf(end.complaint, "out of quota"), ...given }
  }
  const questions = linesOf(end.lines, "question").map(({ type: _type, ...question }) => question)
  if (questions.length > 0) {
    return { kind: "questions-asked", questions: questions.slice(0, questionsPerReportMax) }
  }
  switch (end._tag) {
    case "Well":
      return undefined
    case "Stuck":
      return isProbed.has(phase)
        ? { kind: "agent-stuck", stuckSeconds: end.seconds }
        : { kind: "failed", reason: `the agent said nothing for ${end.seconds} s`, failureKind: "stuck" }
    case "Passing":
      return { kind: "transient-failed", reason: reasonOf(end.complaint, "a failure that may pass") }
    case "NotLetIn":
      return { kind: "auth-failed", reason: reasonOf(end.complaint, "auth"), category: "Persistent" }
    case "Badly":
      return { kind: "failed", reason: reasonOf(end.complaint, "the agent failed"), failureKind: "agent" }
  }
}

/** Suggestions go first: nothing of a dispatch is accepted after its end. */
export const reportSuggestions = Effect.fnUntraced(function* ({ report }: PhaseTools, { lines }: AgentEnd) {
  const suggestions = linesOf(lines, "suggestion").map(({ type: _type, ...suggestion }) => suggestion)
  for (let first = 0; first < suggestions.length; first += suggestionsPerReportMax) {
    const some = suggestions.slice(first, first + suggestionsPerReportMax)
    yield* report({ kind: "suggestions-made", suggestions: some })
  }
})

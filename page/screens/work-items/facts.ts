/** What a fact of an item's log says, in a sentence. */
import type { Tone } from "../../design/tone.ts"

export interface Said {
  readonly words: string
  readonly tone: Tone
  /** What somebody wrote, or an agent: shown as it is. */
  readonly quote?: string
}

export type Fact = Readonly<Record<string, unknown>>

type Saying = (fact: Fact) => Said

const text = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
const maybe = (before: string, value: unknown) =>
  value === null || value === undefined ? "" : `${before}${text(value)}`
const sha = (value: unknown) => text(value).slice(0, 10)

const plain =
  (words: string, tone: Tone = "quiet"): Saying =>
  () => ({ words, tone })
const because =
  (words: string, tone: Tone = "wait"): Saying =>
  ({ reason }) => ({ words, tone, ...(typeof reason === "string" && reason !== "" ? { quote: reason } : {}) })

const sayings: Readonly<Record<string, Saying>> = {
  Created: ({ agent, projectId, priority }) => ({
    words: `created in ${text(projectId)} for ${text(agent)}, priority ${text(priority)}`,
    tone: "quiet"
  }),
  Dispatched: ({ dispatch }) => {
    const { phase, iteration, agent, runner } = dispatch as Fact
    return {
      words: `${text(phase)} ${text(iteration)} given to ${text(agent)} on runner ${text(runner)}`,
      tone: "quiet"
    }
  },
  Progressed: plain("progress"),
  UsageAdded: ({ tokensInput, tokensOutput, costMicroUsd }) => ({
    words: `used ${text(tokensInput)} tokens in, ${text(tokensOutput)} out, ${(Number(costMicroUsd) / 1_000_000).toFixed(4)} USD`,
    tone: "quiet"
  }),
  IterationCompleted: ({ iteration, phase, commitSha }) => ({
    words: `${text(phase)} ${text(iteration)} completed${commitSha == null ? "" : ` as commit ${sha(commitSha)}`}`,
    tone: "good"
  }),
  WorkCompleted: ({ commitSha }) => ({
    words: `work completed${commitSha == null ? "" : ` as commit ${sha(commitSha)}`}`,
    tone: "good"
  }),
  EndedWithoutAction: plain("the agent found nothing to do", "good"),
  Completed: plain("done", "good"),
  Failed: ({ error, failureKind }) => ({ words: `failed (${text(failureKind)})`, tone: "bad", quote: text(error) }),
  AuthFailed: because("the agent's credentials were refused", "bad"),
  Retired: plain("retired"),
  AuditEnded: ({ iteration, verdict, blocking, nonBlocking }) => ({
    words: `audit ${text(iteration)}: ${text(verdict)}, ${text(blocking)} findings block, ${text(nonBlocking)} do not`,
    tone: verdict === "pass" ? "good" : "wait"
  }),
  AuditorTimedOut: ({ auditor }) => ({ words: `auditor ${text(auditor)} timed out`, tone: "wait" }),
  AuditPassed: plain("audit passed", "good"),
  ReworkBegan: plain("rework begins", "wait"),
  AuditFailed: plain("the audit did not converge", "bad"),
  Merged: ({ mergeSha }) => ({ words: `merged${mergeSha == null ? "" : ` as ${sha(mergeSha)}`}`, tone: "good" }),
  ConflictFound: because("a merge conflict"),
  ConflictResolved: plain("the conflict is resolved", "good"),
  ConflictResolutionFailed: because("the conflict could not be resolved", "bad"),
  PullRequestOpened: ({ pullRequestNumber }) => ({
    words: `pull request ${text(pullRequestNumber)} opened`,
    tone: "good"
  }),
  PushFailed: because("the push failed"),
  OperatorInputNeeded: plain("waits for an answer", "wait"),
  QuestionAsked: ({ questionText }) => ({ words: "the agent asks", tone: "wait", quote: text(questionText) }),
  QuestionAnswered: ({ answer }) => ({ words: "answered", tone: "good", quote: text(answer) }),
  QuestionDismissed: because("the question was dismissed", "quiet"),
  SuggestionMade: ({ title }) => ({ words: "a suggestion", tone: "quiet", quote: text(title) }),
  Cancelled: because("cancelled", "quiet"),
  Resumed: ({ resumedFromPhase }) => ({ words: `resumed${maybe(" from ", resumedFromPhase)}`, tone: "good" }),
  Delegated: because("delegated"),
  WaitingForAgent: because("waits for its agent"),
  AgentResumed: plain("its agent is back", "good"),
  WaitingForRetry: because("waits to be tried again"),
  WaitingForQuota: because("waits for a quota"),
  FellBack: ({ fromAgent, toAgent }) => ({ words: `moved from ${text(fromAgent)} to ${text(toAgent)}`, tone: "wait" }),
  AutoRetried: ({ attemptNumber }) => ({ words: `tried again, attempt ${text(attemptNumber)}`, tone: "quiet" }),
  AgentStuck: ({ stuckSeconds }) => ({
    words: `the agent hung for ${text(stuckSeconds)} s and was killed`,
    tone: "bad"
  }),
  Preempted: plain("its runner was taken away", "wait"),
  Recovered: ({ toState, recoveryAttempt }) => ({
    words: `recovered to ${text(toState)}, attempt ${text(recoveryAttempt)}`,
    tone: "wait"
  }),
  FollowUpAsked: ({ title }) => ({ words: "asks for a follow-up", tone: "quiet", quote: text(title) })
}

/** A new fact may come: one that this page does not know says its name. */
export const sayingOf = (fact: Fact): Said => {
  const name = text(fact["fact"])
  return sayings[name]?.(fact) ?? { words: name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ").toLowerCase(), tone: "quiet" }
}

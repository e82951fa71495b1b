/**
 * What runners report of the items they have in hand. The shapes are the work item's own; here they get the head
 * that all reports have. Texts come as people and agents wrote them: pipeline-api removes secrets before it passes
 * them on.
 */
import { Schema } from "effect"
import { type ReportDeclaration, reportHead } from "./report-head.ts"
import { workItemReports } from "./work-item-reports.ts"

const withHead = <const Fields extends Schema.Struct.Fields>(report: Schema.Struct<Fields>) =>
  Schema.Struct({ ...report.fields, ...reportHead })

const item = <S extends ReportDeclaration["schema"]>(why: string, schema: S) =>
  ({ why, about: "workitem", schema }) as const satisfies ReportDeclaration

const of = workItemReports

export const runnerReports = {
  progress: item("a runner is alive and at its item, and what that has cost since", withHead(of.progress)),
  "iteration-ended": item("work, rework or delegation ended, with a commit or without", withHead(of.iterationEnded)),
  "audit-ended": item("the auditors of an iteration are through, with all their findings", withHead(of.auditEnded)),
  "auditor-timed-out": item("one auditor did not answer in time", withHead(of.auditorTimedOut)),
  "merge-ended": item("the merge went through, met a conflict, or failed", withHead(of.mergeEnded)),
  "conflict-rework-ended": item("a conflict was resolved, or was not", withHead(of.conflictReworkEnded)),
  "pull-request-opened": item("a pull request was opened for the work branch", withHead(of.pullRequestOpened)),
  "push-ended": item("the push to upstream ended", withHead(of.pushEnded)),
  "questions-asked": item("the agent asks an operator", withHead(of.questionsAsked)),
  "suggestions-made": item("the agent suggests something beyond the item", withHead(of.suggestionsMade)),
  "agent-stuck": item("the agent hung and was killed", withHead(of.agentStuck)),
  "agent-died": item("the worker of a dispatch is gone", withHead(of.agentDied)),
  "auth-failed": item("the agent met a login prompt, or its credentials are refused", withHead(of.authFailed)),
  "quota-hit": item("the agent is out of quota, and who takes over", withHead(of.quotaHit)),
  "transient-failed": item("a transport failure, which may pass", withHead(of.transientFailed)),
  failed: item("the phase failed for good", withHead(of.failed)),
  preempted: item("the host goes down in order and hands the item back", withHead(of.preempted)),
  "check-verdict": item("a check has its verdict", withHead(of.checkVerdict)),
  "recheck-completed": item("a check was made again after its act", withHead(of.recheckCompleted))
} as const

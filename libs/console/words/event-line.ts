/** One line for a person about an event: what happened, to what. Pure. */
import { clipped, count, countOf, duration } from "./figures.ts"

type Fields = Readonly<Record<string, unknown>>
type Sentence = (details: Fields, envelope: Fields) => string

export interface LineInput {
  readonly event: string
  /** What it is about, as `workItem:<id>`. */
  readonly entity: string | null
  /** As it was published, parsed; null where it is not shown. */
  readonly envelope: Fields | null
  /** The catalogue's prose, for names that have no sentence here and for events without their envelope. */
  readonly firedWhen?: string | undefined
}

const titleCharactersMax = 70
const reasonCharactersMax = 90

export const lineOf = ({ event, entity, envelope, firedWhen }: LineInput): string => {
  if (envelope !== null) {
    const details = fieldsOf(envelope["details"])
    const sentence = sentences[event]
    if (sentence !== undefined) return sentence(details, envelope)
    const predicate = predicates[event]
    if (predicate !== undefined) return `${subjectOf(envelope)} ${predicate(details, envelope)}`
  }
  const about = entity === null ? "" : `${entityWords(entity)}: `
  return capital(`${about}${firedWhen ?? event.replaceAll(/[._]/gu, " ")}`)
}

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

/** A field as text; empty where it is not there. */
const text = (fields: Fields, name: string): string => {
  const value = fields[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}
const number = (fields: Fields, name: string): number => (typeof fields[name] === "number" ? fields[name] : 0)

/** `: <reason>`, or nothing. */
const because = (fields: Fields, name = "reason"): string => {
  const reason = text(fields, name)
  return reason === "" ? "" : `: ${clipped(reason, reasonCharactersMax)}`
}
const by = (fields: Fields, name: string): string => (text(fields, name) === "" ? "" : ` by ${text(fields, name)}`)

/** What an envelope is about, by its title. */
const subjectOf = (envelope: Fields): string => {
  const title = text(fieldsOf(envelope["workItem"]), "title")
  if (title !== "") return `“${clipped(title, titleCharactersMax)}”`
  const release = text(fieldsOf(envelope["release"]), "name")
  if (release !== "") return `Release ${release}`
  const project = text(fieldsOf(envelope["project"]), "displayName")
  return project === "" ? "The fleet" : project
}

/** `work item 6f1c2f0e` of `workItem:6f1c2f0e-…`. */
const entityWords = (entity: string): string => {
  const [kind = "", id = ""] = entity.split(/:(.*)/su, 2)
  return `${kind === "workItem" ? "work item" : kind} ${id.length === 36 ? id.slice(0, 8) : id}`
}

const capital = (line: string) => `${line.slice(0, 1).toUpperCase()}${line.slice(1)}`
const agentOf = (envelope: Fields) => text(fieldsOf(envelope["workItem"]), "agent")
const errorOf = (envelope: Fields) => because(fieldsOf(envelope["workItem"]), "lastError")
const findingsOf = (details: Fields, blocking: string, others: string) =>
  `${countOf(number(details, blocking), "blocking finding")}, ${countOf(number(details, others), "other")}`
const leakOf = (details: Fields) =>
  `Sandbox ${text(details, "name")}, ${duration(number(details, "ageMinutes") * 60_000)} old,`
const share = (details: Fields) =>
  `$${count(number(details, "currentSpendUsd"))} of $${count(number(details, "budgetUsd"))} in 30 days`
const project = (envelope: Fields) => text(fieldsOf(envelope["project"]), "displayName") || "a project"

/** What is said after the subject. */
const predicates: Readonly<Record<string, Sentence>> = {
  "work_item.working": (_, envelope) => `is worked on by ${agentOf(envelope)}`,
  "work_item.work_complete": () => "is worked out and committed",
  "work_item.auditing": () => "is being audited",
  "work_item.audit_iteration": (details) =>
    `was audited, ${number(details, "iteration")} of ${number(details, "totalIterations")}: ${findingsOf(details, "blockingFindings", "nonBlockingFindings")}`,
  "work_item.audit_passed": () => "passed every audit",
  "work_item.reworking": () => "is reworked after its audit",
  "work_item.audit_failed": (_, envelope) => `did not pass its audits${errorOf(envelope)}`,
  "work_item.merging": () => "is being merged",
  "work_item.merged": (_, envelope) => `is merged into ${text(fieldsOf(envelope["workItem"]), "baseBranch")}`,
  "work_item.upstream_pushing": () => "is pushed upstream",
  "work_item.pull_request_opened": (details) => `has pull request ${number(details, "pullRequestNumber")}`,
  "work_item.done": () => "is done",
  "work_item.failed": (_, envelope) => `failed${errorOf(envelope)}`,
  "work_item.cancelled": (details) => `was cancelled${because(details)}`,
  "work_item.no_action_required": () => "needs nothing done",
  "work_item.agent_stuck": (details) =>
    `had a hanging agent: ${text(details, "agentKind")} was killed after ${duration(number(details, "stuckSeconds") * 1_000)}`,
  "work_item.recovered": (details) => `came back after a crash, into ${text(details, "toState")}${because(details)}`,
  "work_item.auto_retry": (details) => `is tried again, attempt ${number(details, "attemptNumber")}${because(details)}`,
  "work_item.agent_restore_requeued": (details) => `is queued again: ${text(details, "restoredAgent")} is back`,
  "work_item.resumed": (details) =>
    text(details, "resumedFromPhase") === "" ? "resumes" : `resumes from ${text(details, "resumedFromPhase")}`,
  "work_item.delegated": (details) => `was delegated${because(details)}`,
  "work_item.merge_conflict_resolution_failed": (details) => `could not be merged${because(details)}`,
  "work_item.check_followup_enqueued": () => "queued a follow-up",
  "work_item.post_act_recheck_completed": (details) => `was checked again${because(details, "answer")}`,
  "work_item.suggestion": (details) => `has a suggestion${because(details, "title")}`,
  "work_item.needs_operator_input": () => "waits for an operator's answer",
  "work_item.waiting_for_agent_resume": (details) => `waits for a paused agent${because(details)}`,
  "work_item.waiting_for_transient_retry": (details) =>
    `waits to try ${text(details, "phase")} again with ${text(details, "agent")}${because(details)}`,
  "work_item.waiting_for_quota_reset": (details) => `waits for quota${because(details)}`,
  "work_item.question_asked": (details) => `asks${because(details, "questionText")}`,
  "work_item.question_answered": (details) => `has its answer${because(details, "answer")}`,
  "work_item.question_dismissed": (details) => `had a question dismissed${because(details)}`,
  "iteration.started": (details) => `began ${text(details, "phase")} ${number(details, "iteration")}`,
  "iteration.completed": (details) =>
    `ended ${text(details, "phase")} ${number(details, "iteration")} after ${duration(number(details, "durationMs"))}`,
  "audit.started": (details) => {
    const auditors = details["auditorsScheduled"]
    return `goes to ${countOf(Array.isArray(auditors) ? auditors.length : 0, "auditor")}`
  },
  "audit.findings.emitted": (details) => `has ${findingsOf(details, "blocking", "nonBlocking")}`,
  "audit.completed": (details) =>
    `${text(details, "verdict") === "pass" ? "passed" : "did not pass"} its audit after ${duration(number(details, "durationMs"))}`,
  "audit.auditor_timed_out": (details) => `had no answer from auditor ${text(details, "auditor")}`,
  "merge.started": (details) => `merges ${text(details, "workBranch")} into ${text(details, "baseBranch")}`,
  "merge.completed": (details) =>
    text(details, "mergeSha") === "" ? "let go of its branch" : `merged as ${text(details, "mergeSha").slice(0, 10)}`,
  "upstream.pr_stale_base": (details) =>
    `has pull request ${number(details, "pullRequestNumber")}, whose base ${text(details, "baseBranch")} moved`,
  "project.queue_paused": (details) => `has its queue paused${by(details, "pausedBy")}${because(details)}`,
  "project.queue_resumed": (details) => `has its queue running again${by(details, "resumedBy")}${because(details)}`,
  "release.created": () => "was created",
  "release.closed": () => "takes no more work items",
  "release.abandoned": () => "was abandoned",
  "release.reopened": () => "is open again",
  "release.has_failed_work_items": () => "was closed with items that failed",
  "release.in_review": () => "is in its deep audit",
  "release.deep_audit_iteration_complete": (details) =>
    `was audited, ${number(details, "iteration")} of ${number(details, "maxIterations")}: ${countOf(number(details, "blockingFindings"), "blocking finding")} of ${count(number(details, "totalFindings"))}`,
  "release.deep_audit_remediation_dispatched": () => "has an item that mends what its audit found",
  "release.work_item_added": () => "has one more work item",
  "release.published": () => "is published",
  "release.failed": () => "did not pass its deep audit",
  "release.sync_conflict": (details) =>
    `needs attention: ${text(details, "sourceBranch")} does not go into ${text(details, "targetBranch")}`
}

/** Whole lines, of events that are about the fleet. */
const sentences: Readonly<Record<string, Sentence>> = {
  "agent.fallback": (details) => {
    const next = text(details, "toAgent")
    const from = text(details, "fromAgent")
    return `${capital(text(details, "phase"))} moves from ${from} to ${next === "" ? "nobody: no member is available" : next}${because(details)}`
  },
  "agent.smoke_failed": (details) => `Agent ${text(details, "agentKind")} is benched${because(details)}`,
  "agent.paused": (details) =>
    `Agent ${text(details, "agent")} was paused${by(details, "pausedBy")}${because(details)}`,
  "agent.resumed": (details) =>
    `Agent ${text(details, "agent")} was resumed${by(details, "resumedBy")}${because(details)}`,
  "agent.restore_requeue_swept": (details) =>
    `Agent ${text(details, "restoredAgent")} is back: ${countOf(number(details, "requeued"), "item")} queued again`,
  "agent.provider_session_suspend_failed": (details) => `A session could not suspend${because(details, "error")}`,
  "agent.provider_session_close_failed": (details) => `A session could not be closed${because(details, "error")}`,
  "queue.paused": (details) => `The queue was paused${by(details, "pausedBy")}${because(details)}`,
  "queue.resumed": () => "The queue runs again",
  "quota.reset_optimal": (details) => `${capital(text(details, "agent"))} has quota that is best spent now`,
  "budget.deferred": (details, envelope) => `The budget put off ${quoted(envelope)}${because(details)}`,
  "disk.deferred": (details, envelope) =>
    `Too little disk at ${text(details, "mountPath")} put off ${quoted(envelope)}`,
  "sandbox.provisioning_deferred": (details, envelope) =>
    `${capital(text(details, "provider"))} put off ${quoted(envelope)}${because(details, "errorClass")}`,
  "project.budget_warning": (details) => `${text(details, "projectId")} nears its budget: ${share(details)}`,
  "project.budget_exceeded": (details) => `${text(details, "projectId")} is over its budget: ${share(details)}`,
  "project.budget_recovered": (details) =>
    `${text(details, "projectId")} is within its budget again: ${share(details)}`,
  "sandbox.leak_detected": (details) => `${leakOf(details)} has no owner`,
  "sandbox.leak_disposed": (details) => `${leakOf(details)} was disposed of`,
  "sandbox.leak_dispose_failed": (details) => `${leakOf(details)} could not be disposed of${because(details, "error")}`
}

const quoted = (envelope: Fields) =>
  text(fieldsOf(envelope["workItem"]), "title") === "" ? `an item of ${project(envelope)}` : subjectOf(envelope)

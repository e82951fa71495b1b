/**
 * Events at the inner boundaries of a run, delivered only where a filter asks for them. The iteration counts
 * up within one uninterrupted run and begins at 1 again after a preemption.
 */
import { Schema } from "effect"
import { Finding } from "../entities.ts"
import { Count, Id, Ordinal, Timestamp } from "../primitives.ts"
import { fields, progressEvent } from "./declaration.ts"

const of = { workItemId: Id, iteration: Ordinal }
const branches = { workItemId: Id, baseBranch: Schema.String, workBranch: Schema.String }
const phase = Schema.Literals(["work", "rework"])

export const progressEvents = [
  progressEvent("iteration.started", "a work or rework iteration was dispatched", {
    details: fields({ ...of, phase, dispatchedAt: Timestamp })
  }),
  progressEvent("iteration.completed", "an iteration ended with a commit", {
    details: fields({ ...of, phase, commitSha: Schema.NullOr(Schema.String), durationMs: Count })
  }),
  progressEvent("audit.started", "the auditors of an iteration were scheduled", {
    details: fields({ ...of, auditorsScheduled: Schema.Array(Schema.String) })
  }),
  progressEvent("audit.findings.emitted", "an audit iteration reported its findings, none included", {
    details: fields({ ...of, findings: Schema.Array(Finding), blocking: Count, nonBlocking: Count })
  }),
  progressEvent("audit.completed", "the audit phase ended with a verdict", {
    details: fields({ ...of, verdict: Schema.Literals(["pass", "fail"]), durationMs: Count })
  }),
  progressEvent("audit.auditor_timed_out", "an auditor did not answer in time", {
    details: fields({ ...of, auditor: Schema.String, agent: Schema.String, sandboxId: Schema.String })
  }),
  progressEvent("merge.started", "the merge phase took the branch up", { details: fields(branches) }),
  progressEvent("merge.completed", "the merge phase let go of the branch", {
    details: fields({ ...branches, mergeSha: Schema.NullOr(Schema.String) })
  })
]

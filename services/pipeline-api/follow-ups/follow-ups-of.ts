/**
 * The follow-ups of a record of the log for other entities, as commands. An item's release is informed of the item; a
 * check's verdict and a deep audit's remediation become items; an agent that refused its credentials is benched; items
 * that waited for an agent are woken. The same record gives the same commands under the same ids. Pure.
 */
import { Result, Schema } from "effect"
import {
  AgentFact,
  agentIdOf,
  type CommandEntity,
  ReleaseFact,
  type ReleaseFactOf,
  ReleaseState,
  WorkItemFact,
  type WorkItemFactOf,
  WorkItemState
} from "#pipeline/contract"
import { type CommandOf, isEnded } from "#pipeline"
import type { ReadRecord } from "../History.ts"
import { concernedItem } from "../views.ts"

interface CommandFollowUp<Entity extends CommandEntity> {
  readonly _tag: "Command"
  readonly entity: Entity
  readonly id: string
  readonly command: CommandOf<Entity>
}

/** `Remedy`: create an item by its project's current settings. `Wake`: wake the items that wait for the agent. */
export type FollowUp =
  | { readonly [Entity in CommandEntity]: CommandFollowUp<Entity> }[CommandEntity]
  | {
      readonly _tag: "Remedy"
      readonly releaseId: string
      readonly fact: ReleaseFactOf<"RemediationDispatched">
      readonly release: ReleaseState
    }
  | { readonly _tag: "Wake"; readonly agentId: string; readonly isQuota: boolean }

const decodeItemFact = Schema.decodeUnknownResult(WorkItemFact)
const decodeItem = Schema.decodeUnknownResult(WorkItemState)
const decodeReleaseFact = Schema.decodeUnknownResult(ReleaseFact)
const decodeRelease = Schema.decodeUnknownResult(ReleaseState)
const decodeAgentFact = Schema.decodeUnknownResult(AgentFact)

/** The facts that have follow-ups; all others are skipped. */
const followed: Readonly<Record<string, ReadonlySet<string>>> = {
  workitem: new Set([
    "Created",
    "Completed",
    "EndedWithoutAction",
    "Failed",
    "Cancelled",
    "AuditFailed",
    "ConflictResolutionFailed",
    "Recovered",
    "Resumed",
    "Delegated",
    "AgentRestoreRequeued",
    "ConflictFound",
    "FollowUpAsked",
    "AuthFailed"
  ]),
  release: new Set(["RemediationDispatched"]),
  agent: new Set(["Resumed", "SmokeRecovered", "QuotaReset"])
}

const tagOf = (fact: unknown) => (typeof fact === "object" && fact !== null && "_tag" in fact ? String(fact._tag) : "")

/** Fails for a record with an unreadable state: an operator must investigate. */
export const followUpsOf = (record: ReadRecord): Result.Result<ReadonlyArray<FollowUp>, Schema.SchemaError> => {
  const tags = followed[record.entity]
  const facts = record.facts.filter((fact) => tags?.has(tagOf(fact)) === true)
  if (facts.length === 0) return Result.succeed([])
  switch (record.entity) {
    case "workitem":
      return Result.flatMap(decodeItem(record.state), (item) =>
        Result.map(Result.all(facts.map((fact) => decodeItemFact(fact))), (known) => ofItem(record, item, known))
      )
    case "release":
      return Result.flatMap(decodeRelease(record.state), (release) =>
        Result.map(Result.all(facts.map((fact) => decodeReleaseFact(fact))), (known) =>
          known.flatMap((fact) =>
            fact._tag === "RemediationDispatched"
              ? [{ _tag: "Remedy" as const, releaseId: record.id, fact, release }]
              : []
          )
        )
      )
    default:
      return Result.map(Result.all(facts.map((fact) => decodeAgentFact(fact))), (known) =>
        known.map((fact) => ({ _tag: "Wake", agentId: record.id, isQuota: fact._tag === "QuotaReset" }))
      )
  }
}

const command = <Entity extends CommandEntity>(
  entity: Entity,
  id: string,
  given: CommandOf<Entity>
): CommandFollowUp<Entity> => ({ _tag: "Command", entity, id, command: given })

const ofItem = (
  record: ReadRecord,
  item: WorkItemState,
  facts: ReadonlyArray<WorkItemFact>
): ReadonlyArray<FollowUp> => [
  ...facts.flatMap((fact) => {
    if (fact._tag === "FollowUpAsked") return [actOf(record.id, item, fact)]
    return fact._tag === "AuthFailed" ? [benching(record, item, fact)] : []
  }),
  ...ofRelease(record.id, item, facts)
]

/** Informs the linked release that the item was added, how it ended, or that it is back. */
const ofRelease = (id: string, item: WorkItemState, facts: ReadonlyArray<WorkItemFact>): ReadonlyArray<FollowUp> => {
  const { releaseId } = item
  if (releaseId === null) return []
  const isNew = facts.some(({ _tag }) => _tag === "Created")
  const added = isNew ? [command("release", releaseId, { _tag: "AddWorkItem", workItemId: id, title: item.title })] : []
  const [other] = facts.filter(({ _tag }) => _tag !== "Created" && _tag !== "FollowUpAsked" && _tag !== "AuthFailed")
  if (other === undefined) return added
  return isEnded(item.state)
    ? [...added, command("release", releaseId, { _tag: "EndWorkItem", workItemId: id, outcome: outcomeOf(item) })]
    : [...added, command("release", releaseId, { _tag: "ReturnWorkItem", workItemId: id })]
}

const outcomeOf = ({ state }: WorkItemState) => {
  if (state === "Cancelled") return "cancelled"
  return state === "Done" || state === "NoActionRequired" ? "done" : "failed"
}

/** The act requested by a check, with the check's project, agent and settings. */
const actOf = (checkId: string, check: WorkItemState, fact: WorkItemFactOf<"FollowUpAsked">): FollowUp =>
  command("workitem", fact.followupWorkItemId, {
    _tag: "Create",
    title: fact.title,
    instructions: fact.instructions,
    projectId: check.projectId,
    project: check.project,
    agent: check.agent,
    baseBranch: check.baseBranch,
    externalId: null,
    releaseId: check.releaseId,
    kind: "follow-up",
    originCheckWorkItemId: checkId,
    priority: check.priority,
    settings: check.settings,
    workBranchPrefix: check.workBranch.slice(0, check.workBranch.lastIndexOf("/"))
  })

const benching = (record: ReadRecord, item: WorkItemState, fact: WorkItemFactOf<"AuthFailed">): FollowUp =>
  command("agent", agentIdOf(fact.agent, fact.agentInstanceId), {
    _tag: "FailSmoke",
    cause: "login-prompt",
    reason: fact.reason.slice(0, 500),
    category: fact.category,
    occurredAtMs: record.atMs,
    item: concernedItem(record.id, item),
    epoch: null
  })

const tag = (name: string) => Buffer.from(`"_tag":"${name}"`)

/** How these facts are written in a record. */
const needles: Readonly<Record<string, ReadonlyArray<Buffer>>> = {
  workitem: [Buffer.from(`"releaseId":"`), tag("FollowUpAsked"), tag("AuthFailed")],
  release: [tag("RemediationDispatched")],
  agent: [tag("Resumed"), tag("SmokeRecovered"), tag("QuotaReset")]
}

/**
 * Whether a record can have follow-ups, judged from its bytes: most records concern only their own entity, and parsing
 * each of them would cost more than all follow-ups. A false positive is harmless. `subject`: `log.<entity>.<id>`.
 * Records are written without a space between key and value.
 */
export const mayBeFollowed = (subject: string, data: Uint8Array): boolean => {
  const wanted = needles[subject.split(".")[1] ?? ""]
  if (wanted === undefined) return false
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return wanted.some((needle) => bytes.includes(needle))
}

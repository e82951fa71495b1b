/**
 * Possible next inputs of callers, runners and internal services to a whole pipeline: commands and reports for a few
 * items, releases, projects and agents and the queue, by their present states; deterministic for the same dice.
 */
import {
  type AgentState,
  type CommandEntity,
  decodeReport,
  type ProjectState,
  queueId,
  type QueueState,
  type ReleaseState,
  type WorkItemCommand,
  type WorkItemState
} from "#pipeline/contract"
import type { Dice } from "../../../support/random-ssml.ts"
import { randomCommand as agentCommand } from "../../../libs/pipeline/agent/random-commands.ts"
import { uuid } from "../../../libs/pipeline/entity-at-work.ts"
import { settingsOf } from "../../../libs/pipeline/project/project-at-work.ts"
import { randomCommand as projectCommand } from "../../../libs/pipeline/project/random-commands.ts"
import { randomCommand as releaseCommand } from "../../../libs/pipeline/release/random-commands.ts"
import { conflict, create as createRelease } from "../../../libs/pipeline/release/release-at-work.ts"
import type { creation } from "../../../libs/pipeline/work-item/item-at-work.ts"
import { randomCommand as itemCommand, randomCreation } from "../../../libs/pipeline/work-item/random-commands.ts"

export type Tagged = Readonly<Record<string, unknown>> & { readonly _tag: string }
export interface Given {
  readonly _tag: "Command"
  readonly entity: CommandEntity
  readonly id: string
  readonly commandId: string
  readonly command: Tagged
}
export interface Reported {
  readonly _tag: "Report"
  readonly kind: string
  readonly report: Readonly<Record<string, unknown>>
}
export type Input = Given | Reported

// So many are at work at once; every so many inputs a new one takes the place of the oldest.
const itemsAtOnce = 6
const inputsAnItem = 12
const freeReleaseId = uuid(1)
/** Open for ever, so that every item that names it must come to be listed in it. */
export const openReleaseId = uuid(2)
const firstItem = 1_000

/** The entity of the input with that number. */
export const placeOf = (dice: Dice, number: number): { readonly entity: CommandEntity; readonly id: string } => {
  const kind = dice.below(20)
  if (kind < 12) {
    return { entity: "workitem", id: uuid(firstItem + Math.floor(number / inputsAnItem) + dice.below(itemsAtOnce)) }
  }
  if (kind < 14) return { entity: "release", id: freeReleaseId }
  if (kind < 15) return { entity: "release", id: openReleaseId }
  if (kind < 17) return { entity: "agent", id: dice.of(["smith", "owl"]) }
  return kind < 19 ? { entity: "project", id: "garden" } : { entity: "queue", id: queueId }
}

/** `number` is the input's own: whatever is made by it bears that. */
export const randomInput = (
  dice: Dice,
  { entity, id }: ReturnType<typeof placeOf>,
  state: unknown,
  number: number,
  nowMs: number
): Input => {
  const commandId = uuid(1_000_000 + number)
  const given = (command: object): Input => ({ _tag: "Command", entity, id, commandId, command: command as Tagged })
  switch (entity) {
    case "workitem":
      return itemInput(dice, id, state as WorkItemState | null, number, given)
    case "release": {
      const known = state as ReleaseState | null
      if (known === null) return given(createRelease)
      return given(id === openReleaseId ? conflict(`b${dice.below(4)}`) : releaseCommand(dice, known))
    }
    case "agent":
      return given(agentCommand(dice, Math.max(nowMs, (state as AgentState | null)?.updatedAtMs ?? 0)))
    case "project":
      return given(
        (state as ProjectState | null) === null ? { _tag: "Create", settings: settingsOf() } : projectCommand(dice)
      )
    default:
      return given(
        (state as QueueState | null)?.pause == null
          ? { _tag: "Pause", reason: "spring cleaning", pausedBy: "ann" }
          : { _tag: "Resume", reason: null, resumedBy: "ben" }
      )
  }
}

const itemInput = (
  dice: Dice,
  id: string,
  state: WorkItemState | null,
  number: number,
  given: (command: object) => Input
): Input => {
  if (state === null) {
    const command = randomCreation(dice) as ReturnType<typeof creation>
    return given({ ...command, releaseId: dice.of([null, openReleaseId]) })
  }
  const command: WorkItemCommand = itemCommand(dice, state, number)
  if (command._tag === "Retire" && dice.below(3) > 0) return given({ _tag: "Resume" })
  if (command._tag !== "Report") return given(command)
  const fresh = uuid(2_000_000 + number)
  const asked = { title: "Oil it", instructions: "With linseed." }
  const report = {
    ...command.report,
    workItemId: id,
    reportId: uuid(3_000_000 + number),
    ...(command.report.kind === "check-verdict" && command.report.isMatched ? { followUp: asked } : {})
  }
  // Some come as a runner's reports; inputs without a report come as commands.
  const isReport = dice.below(3) > 0 && decodeReport(report.kind, { atMs: 1, ...report })._tag === "Success"
  return isReport
    ? { _tag: "Report", kind: report.kind, report: { atMs: 1, ...report } }
    : given({ ...command, report, freshWorkItemId: fresh })
}

/**
 * A command as a sweep plans it. Its id is made of what the sweep saw: whoever sees the same plans the same, and the
 * actor carries it out once. Ids are remembered by each entity for its own.
 */
import type { AgentCommand, CommandEntity, ProjectCommand, ReleaseCommand, WorkItemCommand } from "#contracts"

export type PipelineCommand = WorkItemCommand | ReleaseCommand | ProjectCommand | AgentCommand

export interface PlannedCommand {
  readonly entity: CommandEntity
  readonly id: string
  readonly commandId: string
  readonly command: PipelineCommand
  /** What was found, for the metrics. */
  readonly finding: string
}

/** Of an entity as it was seen: at that record of its log. */
interface Seen {
  readonly id: string
  readonly sequence: number
}

const planned =
  <Command extends PipelineCommand>(entity: CommandEntity) =>
  (seen: Seen, finding: string, command: Command): PlannedCommand => ({
    entity,
    id: seen.id,
    commandId: `sweep.${finding}.${seen.sequence}`,
    command,
    finding
  })

export const toWorkItem = planned<WorkItemCommand>("workitem")
export const toRelease = planned<ReleaseCommand>("release")
export const toProject = planned<ProjectCommand>("project")
export const toAgent = planned<AgentCommand>("agent")

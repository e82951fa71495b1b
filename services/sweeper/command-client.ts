/**
 * The command client sends the planned commands of sweeps over the bus, some concurrently. A busy entity is retried a
 * few times; when there is no answer at all the sweep fails, and the next one plans anew. Commands beyond the bound of
 * one sweep are left for the next, and counted.
 */
import { Context, Effect, Layer } from "effect"
import { type BusError, BusRefused, jsonCodec, Requests } from "#bus"
import {
  type AgentCommand,
  CommandAnswer,
  type CommandEntity,
  CommandRequest,
  type ProjectCommand,
  type ReleaseCommand,
  type WorkItemCommand
} from "#pipeline/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import type { Findings, SweepName } from "./sweeps.ts"
import { sweepCommands } from "./metrics.ts"

type PipelineCommand = WorkItemCommand | ReleaseCommand | ProjectCommand | AgentCommand

/**
 * A planned command. Its id is derived from what the sweep saw: two sweeps that see the same plan the same, and the
 * actor carries it out once. Each entity remembers the ids of its own.
 */
export interface PlannedCommand {
  readonly entity: CommandEntity
  readonly id: string
  readonly commandId: string
  readonly command: PipelineCommand
  /** The kind of finding, for the metrics. */
  readonly finding: string
}

/** An entity as seen: at that record of its log. */
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

export interface Sent {
  readonly planned: PlannedCommand
  readonly answer: CommandAnswer
}

const question = jsonCodec(CommandRequest)
const answer = jsonCodec(CommandAnswer)

// An actor decides within milliseconds; after this, a process killed meanwhile is known to be dead.
const answerWithinMs = 5_000
// A busy entity is free again soon, and the next sweep comes anyway.
const busyTriesMax = 4
const busyWaitMsMax = 1_000
const unansweredRetriesMax = 2

export class CommandClient extends Context.Service<
  CommandClient,
  {
    /** Sends in the given order, up to the bound of one sweep. */
    readonly send: (
      sweep: SweepName,
      commands: ReadonlyArray<PlannedCommand>
    ) => Effect.Effect<ReadonlyArray<Sent>, BusError>
  }
>()("starling/sweeper/CommandClient") {
  static readonly layer = Layer.effect(
    CommandClient,
    Effect.gen(function* () {
      const requests = yield* Requests
      const { Sweeper } = yield* Configuration
      const counted = (yield* Metrics).counter(sweepCommands)

      const ask = (planned: PlannedCommand) =>
        requests
          .ask(
            { subject: subjects.commands(planned.entity), question, answer, timeoutMs: answerWithinMs },
            { commandId: planned.commandId, id: planned.id, command: { ...planned.command } }
          )
          .pipe(Effect.retry({ times: unansweredRetriesMax, while: (error) => error._tag === "BusUnavailable" }))

      const sendOne = Effect.fnUntraced(function* (sweep: SweepName, planned: PlannedCommand) {
        let answered = yield* ask(planned)
        for (let tried = 1; tried < busyTriesMax && answered._tag === "Busy"; tried++) {
          yield* Effect.sleep(Math.min(answered.retryAfterMs, busyWaitMsMax))
          answered = yield* ask(planned)
        }
        counted.inc({ sweep, outcome: outcomeOf(answered) })
        if (answered._tag === "Invalid") {
          const detail = answered.faults.map(({ path, message }) => `${path}: ${message}`).join("; ")
          const operation = `sweep ${planned.entity} ${planned.id}`
          yield* Effect.logError(
            "a command of the sweeper was refused as invalid",
            new BusRefused({ operation, detail, code: 0 })
          )
        }
        return { planned, answer: answered }
      })

      const send = Effect.fn("CommandClient.send")(function* (
        sweep: SweepName,
        commands: ReadonlyArray<PlannedCommand>
      ) {
        const now = commands.slice(0, Sweeper.ActionsMax)
        if (commands.length > now.length) counted.inc({ sweep, outcome: "left" }, commands.length - now.length)
        return yield* Effect.forEach(now, (planned) => sendOne(sweep, planned), { concurrency: Sweeper.Concurrency })
      })
      return CommandClient.of({ send })
    })
  )
}

const outcomeOf = (answered: CommandAnswer) => {
  switch (answered._tag) {
    case "Accepted":
      return answered.was
    case "Refused":
      return "refused"
    case "NotFound":
      return "not_found"
    case "Busy":
      return "busy"
    case "Invalid":
      return "invalid"
  }
}

/** The command was carried out, now or by an earlier one of its id. */
export const isDone = ({ answer: answered }: Sent) => answered._tag === "Accepted" && answered.was !== "unchanged"

/** Counts findings and those acted on, by finding. */
export const findingsOf = (sent: ReadonlyArray<Sent>): Findings => {
  const findings: Record<string, number> = {}
  for (const one of sent) {
    if (isDone(one)) findings[one.planned.finding] = (findings[one.planned.finding] ?? 0) + 1
  }
  return findings
}

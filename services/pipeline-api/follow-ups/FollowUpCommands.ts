/**
 * Carries out the follow-ups of a record. Each command's id is the record's sequence and a number, so that a repetition
 * after a crash changes nothing. A refusal ends a follow-up; a busy entity or an absent broker is retried later.
 */
import { Context, Effect, Layer, Option, Schedule } from "effect"
import { type CommandError, Views } from "#actors"
import { type BusError, BusUnavailable } from "#bus"
import { agentOfId, commandEntities, type CommandEntity } from "#contracts"
import { priorityDefault } from "#contracts/pipeline-api"
import { Configuration, Metrics } from "#runtime"
import { type AgentRoster, agentRoster } from "../Routing.ts"
import { Commands } from "../Commands.ts"
import { type Configured, settingsFor } from "../Creation.ts"
import { followUpsTotal } from "../metrics.ts"
import { type CommandOf, projectSnapshot } from "#pipeline"
import { readWorkItems } from "../views/rows.ts"
import type { FollowUp } from "./follow-ups-of.ts"

// The views show a record within some ten milliseconds; when they are far behind, they are checked again later.
const viewsEveryMs = 25
const viewsLooksMax = 400
const wakesAtOnce = 16

export class FollowUpCommands extends Context.Service<
  FollowUpCommands,
  {
    /** `sequence`: the record's. */
    readonly carryOut: (
      followUps: ReadonlyArray<FollowUp>,
      sequence: number
    ) => Effect.Effect<void, CommandError | BusError>
  }
>()("starling/pipeline-api/FollowUpCommands") {
  static readonly layer = Layer.effect(
    FollowUpCommands,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const counted = (yield* Metrics).counter(followUpsTotal)
      for (const entity of Object.keys(commandEntities)) counted.begin({ entity })
      const parts: Parts = {
        configured,
        roster: agentRoster(configured.Agents),
        commands: yield* Commands,
        views: yield* Views,
        count: (entity, outcome) => counted.inc({ entity, outcome })
      }
      return FollowUpCommands.of({
        carryOut: Effect.fn("FollowUpCommands.carryOut")(function* (
          followUps: ReadonlyArray<FollowUp>,
          sequence: number
        ) {
          for (const [index, followUp] of followUps.entries()) {
            yield* carryOutOne(parts, followUp, { sequence, commandId: `${sequence}.${index + 1}` })
          }
        })
      })
    })
  )
}

interface Parts {
  readonly configured: Configured
  readonly roster: AgentRoster
  readonly commands: Commands["Service"]
  readonly views: Views["Service"]
  readonly count: (entity: CommandEntity, outcome: (typeof followUpsTotal.values.outcome)[number]) => void
}

/** The record behind the follow-up, and the id of its command. */
interface Cause {
  readonly sequence: number
  readonly commandId: string
}

const carryOutOne = (parts: Parts, followUp: FollowUp, cause: Cause): Effect.Effect<void, CommandError | BusError> => {
  if (followUp._tag === "Remedy") return remedy(parts, followUp, cause)
  if (followUp._tag === "Wake") return wake(parts, followUp, cause)
  const { entity, id, command } = followUp
  // The command belongs to this entity; the compiler cannot see that of a union.
  return run(parts, { entity, id, commandId: cause.commandId }, command as never)
}

interface Address<Entity extends CommandEntity> {
  readonly entity: Entity
  readonly id: string
  readonly commandId: string
}

const run = <Entity extends CommandEntity>(
  { commands, count }: Parts,
  { entity, id, commandId }: Address<Entity>,
  command: CommandOf<Entity>
) =>
  commands.run(entity, { id, commandId }, command).pipe(
    Effect.map(({ was }) => was),
    Effect.catchTags({
      Refusal: ({ state, reason }) =>
        Effect.as(
          Effect.logInfo("what followed from a record was refused").pipe(
            Effect.annotateLogs({ entity, id, commandId, state, reason })
          ),
          "refused" as const
        ),
      EntityNotFound: () => Effect.succeed("not_found" as const)
    }),
    Effect.map((outcome) => count(entity, outcome))
  )

/** Creates the item that mends the findings of a deep audit, by its project's present settings. */
const remedy = Effect.fnUntraced(function* (
  parts: Parts,
  { releaseId, fact, release }: Extract<FollowUp, { readonly _tag: "Remedy" }>,
  { commandId }: Cause
) {
  const { commands, configured } = parts
  const project = Option.map(yield* commands.read("project", fact.projectId), ({ state }) => state)
  yield* run(
    parts,
    { entity: "workitem", id: fact.workItemId, commandId },
    {
      _tag: "Create",
      title: fact.title,
      instructions: fact.instructions,
      projectId: fact.projectId,
      project: Option.match(project, {
        onNone: () => release.project,
        onSome: (known) => projectSnapshot(fact.projectId, known)
      }),
      agent: fact.agent,
      baseBranch: fact.baseBranch,
      externalId: null,
      releaseId,
      kind: "act",
      originCheckWorkItemId: null,
      priority: priorityDefault,
      settings: settingsFor(configured, Option.getOrUndefined(project)),
      workBranchPrefix: configured.Pipeline.WorkBranchPrefix
    }
  )
})

/** Wakes the items that wait for the agent, or for its quota. */
const wake = Effect.fnUntraced(function* (
  parts: Parts,
  { agentId, isQuota }: Extract<FollowUp, { readonly _tag: "Wake" }>,
  { sequence, commandId }: Cause
) {
  const { roster, views } = parts
  // Items that were parked before the agent came back are in the views by then.
  yield* untilShown(views, sequence)
  const { agentKind } = agentOfId(agentId)
  const names = new Set(roster.namesFor(agentKind))
  const states = isQuota ? ["WaitingForAgentResume", "WaitingForQuotaReset"] : ["WaitingForAgentResume"]
  const waiting = readWorkItems(views.list({ entity: "workitem", states })).filter(
    ({ summary: { agent, assignedAgent } }) => (assignedAgent === null ? names.has(agent) : assignedAgent === agentKind)
  )
  const goOn = { _tag: "AgentResumed" } as const
  const retry = { _tag: "AutoRetry", reason: "quota", triggeredBy: "targeted", attempt: null } as const
  yield* Effect.forEach(
    waiting,
    ({ id, state }) =>
      run(parts, { entity: "workitem", id, commandId }, state === "WaitingForQuotaReset" ? retry : goOn),
    { concurrency: wakesAtOnce, discard: true }
  )
})

const untilShown = (views: Views["Service"], sequence: number) =>
  Effect.suspend(() =>
    views.freshness().sequence >= sequence
      ? Effect.void
      : Effect.fail(new BusUnavailable({ operation: "look at waiting items", detail: "the views are behind" }))
  ).pipe(Effect.retry({ times: viewsLooksMax, schedule: Schedule.spaced(viewsEveryMs) }))

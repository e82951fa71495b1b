/**
 * Carries out what follows from a record, each under an id of the record's sequence and a number: a crash repeats, and
 * what was done before is not done again. What an entity refuses is an end; what is busy or away is tried again later.
 */
import { Context, Effect, Layer, Option, Schedule } from "effect"
import { type CommandError, Views } from "#actors"
import { type BusError, BusUnavailable } from "#bus"
import { agentOfId, type CommandEntity, priorityDefault } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { agentRoster } from "../Routing.ts"
import { Commands } from "../Commands.ts"
import { settingsFor } from "../Creation.ts"
import { followUpsTotal } from "../metrics.ts"
import { type CommandOf, projectSnapshot } from "#pipeline"
import { readWorkItems } from "../views/rows.ts"
import type { FollowUp } from "./follow-ups-of.ts"

// The views show a record within some ten milliseconds; far behind, they are looked at again later.
const viewsEveryMs = 25
const viewsLooksMax = 400
const wakesAtOnce = 16

export class CarryOn extends Context.Service<
  CarryOn,
  {
    /** `sequence`: of the record. */
    readonly carryOut: (
      followUps: ReadonlyArray<FollowUp>,
      sequence: number
    ) => Effect.Effect<void, CommandError | BusError>
  }
>()("starling/pipeline-api/CarryOn") {
  static readonly layer = Layer.effect(
    CarryOn,
    Effect.gen(function* () {
      const commands = yield* Commands
      const views = yield* Views
      const configured = yield* Configuration
      const counted = (yield* Metrics).counter(followUpsTotal)
      const roster = agentRoster(configured.Agents)

      const run = <Entity extends CommandEntity>(
        entity: Entity,
        id: string,
        commandId: string,
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
          Effect.map((outcome) => counted.inc({ entity, outcome }))
        )

      const remedy = Effect.fnUntraced(function* (
        { releaseId, fact, release }: Extract<FollowUp, { readonly _tag: "Remedy" }>,
        commandId: string
      ) {
        const project = Option.map(yield* commands.read("project", fact.projectId), ({ state }) => state)
        yield* run("workitem", fact.workItemId, commandId, {
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
        })
      })

      const untilShown = (sequence: number) =>
        Effect.suspend(() =>
          views.freshness().sequence >= sequence
            ? Effect.void
            : Effect.fail(new BusUnavailable({ operation: "look at waiting items", detail: "the views are behind" }))
        ).pipe(
          Effect.retry({
            times: viewsLooksMax,
            schedule: Schedule.spaced(viewsEveryMs)
          })
        )

      const wake = Effect.fnUntraced(function* (
        { agentId, isQuota }: Extract<FollowUp, { readonly _tag: "Wake" }>,
        sequence: number,
        commandId: string
      ) {
        // What was parked before the agent came back is in the views then.
        yield* untilShown(sequence)
        const { agentKind } = agentOfId(agentId)
        const names = new Set(roster.namesFor(agentKind))
        const states = isQuota ? ["WaitingForAgentResume", "WaitingForQuotaReset"] : ["WaitingForAgentResume"]
        const waiting = readWorkItems(views.list({ entity: "workitem", states })).filter(
          ({ summary: { agent, assignedAgent } }) =>
            assignedAgent === null ? names.has(agent) : assignedAgent === agentKind
        )
        const goOn = { _tag: "AgentResumed" } as const
        const retry = { _tag: "AutoRetry", reason: "quota", triggeredBy: "targeted", attempt: null } as const
        yield* Effect.forEach(
          waiting,
          ({ id, state }) => run("workitem", id, commandId, state === "WaitingForQuotaReset" ? retry : goOn),
          { concurrency: wakesAtOnce, discard: true }
        )
      })

      const one = (
        followUp: FollowUp,
        sequence: number,
        number: number
      ): Effect.Effect<void, CommandError | BusError> => {
        const commandId = `${sequence}.${number}`
        if (followUp._tag === "Remedy") return remedy(followUp, commandId)
        if (followUp._tag === "Wake") return wake(followUp, sequence, commandId)
        // A command is its entity's; the compiler cannot tell that of a union.
        return run(followUp.entity, followUp.id, commandId, followUp.command as never)
      }
      return CarryOn.of({
        carryOut: Effect.fn("CarryOn.carryOut")(function* (followUps: ReadonlyArray<FollowUp>, sequence: number) {
          for (const [index, followUp] of followUps.entries()) yield* one(followUp, sequence, index + 1)
        })
      })
    })
  )
}

/**
 * Dispatches items one after the other until one is the runner's: items of a paused project and of one that is at its
 * cap are passed over, one that another runner was quicker for is lost, and after a few of these the runner is told to
 * ask again. Who asks again with the same pickup id is given the very same dispatch, and never another, for the pickup
 * is marked in the log with the dispatch.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Actors, type Precondition, type UniqueKey } from "#actors"
import type { BusError } from "#bus"
import type { PickupDispatch, PickupQuestion, ProjectState, WorkItemState } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { agentRoster } from "../agents.ts"
import { Answers } from "../Answers.ts"
import { Commands } from "../Commands.ts"
import { settingsFor } from "../creation.ts"
import { History } from "../History.ts"
import { pickupTries } from "../metrics.ts"
import { capDeferral, isQueuePaused, progressGrainMs } from "#pipeline"
import type { Nothing } from "./conditions.ts"
import { auditorsOf, dispatchAnswer } from "./dispatch-answer.ts"
import { InFlightCount } from "./InFlightCount.ts"
import { firstOfPickup, pickupKey } from "./unique-keys.ts"
import { Ready, type Wanted } from "./Ready.ts"
import type { ReadyItem } from "./ready-items.ts"

/** `again`: a condition changed on the way. */
export interface NotGiven {
  readonly _tag: "NotGiven"
  readonly why: Nothing["why"] | "again"
  readonly reason: string | null
}

/** What was given for the pickup id is over. */
export interface Over extends NotGiven {
  readonly why: "over"
}

/** What must stand as it did, and what is left in the log with the dispatch. */
interface On {
  readonly preconditions: ReadonlyArray<Precondition>
  readonly uniqueKeys: ReadonlyArray<UniqueKey>
}

// Each is a read and a write of the broker; others were quicker that often.
const triesMax = 8

const notGiven = (why: NotGiven["why"], reason: string | null = null): NotGiven => ({ _tag: "NotGiven", why, reason })

export class Dispatches extends Context.Service<
  Dispatches,
  {
    readonly first: (
      question: PickupQuestion,
      wanted: Wanted,
      preconditions: ReadonlyArray<Precondition>
    ) => Effect.Effect<PickupDispatch | NotGiven, BusError>
    /** What the runner was given for this pickup id before; nothing, if it was given nothing. */
    readonly again: (question: PickupQuestion) => Effect.Effect<PickupDispatch | Over | undefined, BusError>
  }
>()("starling/pipeline-api/Dispatches") {
  static readonly layer = Layer.effect(
    Dispatches,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const commands = yield* Commands
      const actors = yield* Actors
      const inFlightCount = yield* InFlightCount
      const answers = yield* Answers
      const history = yield* History
      const ready = yield* Ready
      const tries = (yield* Metrics).counter(pickupTries)
      const roster = agentRoster(configured.Agents)
      const { ProgressSeconds, ProgressTimeoutSeconds } = configured.Pipeline
      const grainMs = progressGrainMs(ProgressSeconds * 1_000, ProgressTimeoutSeconds * 1_000)
      const retryAfterMs = configured.Budget.RetryAfterSeconds * 1_000

      const answerOf = Effect.fnUntraced(function* (id: string, item: WorkItemState, pickupId: string) {
        const { dispatch } = item
        if (dispatch?.dispatchId !== pickupId) return undefined
        const replies = yield* answers.take(id, dispatch.dispatchId)
        const findings = dispatch.phase === "rework" ? yield* history.lastFindings(id) : []
        return dispatchAnswer(id, { item, dispatch, replies, findings, configured })
      })

      const again = Effect.fn("Dispatches.again")(function* ({ pickupId }: PickupQuestion) {
        const key = yield* actors.uniqueKey(pickupKey(pickupId))
        if (Option.isNone(key)) return undefined
        const { id } = key.value
        const held = yield* commands.read("workitem", id)
        const given = Option.isSome(held) ? yield* answerOf(id, held.value.state, pickupId) : undefined
        const reason = `work item ${id} was given for this pickup id, and that is over`
        return given ?? ({ _tag: "NotGiven", why: "over", reason } satisfies Over)
      })

      const putOff = Effect.fnUntraced(function* (item: ReadyItem, project: ProjectState, question: PickupQuestion) {
        const suggestedRetryAtMs = Math.round((yield* Clock.currentTimeMillis) + retryAfterMs)
        const inFlight = ready.inFlight(item.projectId, question.agent)
        const deferral = capDeferral(project.settings, inFlight, suggestedRetryAtMs)
        if (deferral === undefined || deferral.kind !== "budget") return undefined
        const address = { id: item.id, commandId: `${question.pickupId}.defer` }
        const command = { _tag: "Defer", dispatchId: null, deferral } as const
        yield* Effect.ignore(commands.run("workitem", address, command))
        return deferral.reason
      })

      const dispatch = Effect.fnUntraced(function* (
        item: ReadyItem,
        question: PickupQuestion,
        project: ProjectState | undefined,
        on: On
      ) {
        const { agent, agentInstanceId, runner, sandboxId, pickupId } = question
        const outcome = yield* commands.run(
          "workitem",
          {
            id: item.id,
            commandId: pickupId,
            preconditions: on.preconditions,
            uniqueKeys: [firstOfPickup(pickupId), ...on.uniqueKeys]
          },
          {
            _tag: "Dispatch",
            dispatchId: pickupId,
            phase: item.phase,
            agent,
            model: question.model ?? roster.preferredModel(agent),
            agentInstanceId,
            runner,
            sandboxId,
            auditors: auditorsOf(item.phase, configured.Pipeline),
            settings: settingsFor(configured, project),
            progressGrainMs: grainMs
          }
        )
        return outcome.state === null ? undefined : { state: outcome.state, sequence: outcome.sequence }
      })

      const giveUnlessCapped = Effect.fnUntraced(function* (
        item: ReadyItem,
        question: PickupQuestion,
        project: ProjectState | undefined,
        on: On,
        onDispatched: (sequence: number) => void
      ) {
        const capped = project === undefined ? undefined : yield* putOff(item, project, question)
        if (capped !== undefined) return notGiven("budget", capped)
        const given = yield* dispatch(item, question, project, on)
        if (given !== undefined) onDispatched(given.sequence)
        return given
      })

      /** Nothing: lost. */
      const tried = Effect.fnUntraced(function* (
        item: ReadyItem,
        question: PickupQuestion,
        preconditions: ReadonlyArray<Precondition>,
        onDispatched: (sequence: number) => void
      ) {
        const held = yield* commands.read("project", item.projectId)
        const project = Option.getOrUndefined(Option.map(held, ({ state }) => state))
        if (project !== undefined && isQueuePaused(project)) return notGiven("project-paused")
        const sequence = Option.match(held, { onNone: () => 0, onSome: (known) => known.sequence })
        const all = [...preconditions, { entity: "project", id: item.projectId, sequence }]
        const give = (uniqueKeys: ReadonlyArray<UniqueKey>) =>
          giveUnlessCapped(item, question, project, { preconditions: all, uniqueKeys }, onDispatched)
        const uncounted = () => notGiven("busy", "what the project has in hand is not known just now")
        return yield* (
          project !== undefined && isCapped(project)
            ? inFlightCount.whileKnown({ id: item.projectId, sequence }, (key) => give([key]), uncounted)
            : give([])
        ).pipe(
          Effect.catchTag("PreconditionFailed", () => Effect.succeed(notGiven("again"))),
          Effect.catchTag(["Refusal", "EntityNotFound", "EntityBusy"], () => Effect.succeed(undefined))
        )
      })

      /** While it is tried here, nobody else here tries it. */
      const claimed = Effect.fnUntraced(function* (
        item: ReadyItem,
        question: PickupQuestion,
        preconditions: ReadonlyArray<Precondition>
      ): Effect.fn.Return<PickupDispatch | NotGiven | undefined, BusError> {
        const claim = ready.claim(item, { agent: question.agent, dispatchId: question.pickupId })
        let dispatchedAt: number | undefined
        const taken = yield* tried(item, question, preconditions, (sequence) =>
          claim.done((dispatchedAt = sequence))
        ).pipe(Effect.ensuring(Effect.sync(() => (dispatchedAt === undefined ? claim.done(undefined) : undefined))))
        return taken === undefined || "_tag" in taken ? taken : yield* answerOf(item.id, taken.state, question.pickupId)
      })

      const first = Effect.fn("Dispatches.first")(function* (
        question: PickupQuestion,
        wanted: Wanted,
        preconditions: ReadonlyArray<Precondition>
      ) {
        const passedOver = new Map<string, NotGiven>()
        let left = triesMax
        for (const item of ready.candidates(wanted, yield* Clock.currentTimeMillis)) {
          if (passedOver.has(item.projectId) || !ready.isFree(item)) continue
          if (left-- === 0) return notGiven("busy")
          const given = yield* claimed(item, question, preconditions)
          tries.inc({ outcome: outcomeOf(given) })
          if (given === undefined) continue
          if (given._tag === "Dispatch" || given.why === "again") return given
          passedOver.set(item.projectId, given)
        }
        const [because] = passedOver.values()
        return because ?? notGiven(left < triesMax ? "busy" : "empty")
      })
      return Dispatches.of({ first, again })
    })
  )
}

const isCapped = ({ settings }: ProjectState) =>
  settings.maxInFlightItems !== null || settings.maxInFlightItemsPerAgent !== null

const outcomeOf = (given: PickupDispatch | NotGiven | undefined) => {
  if (given?._tag === "Dispatch") return "dispatched"
  if (given?.why === "budget") return "put_off"
  return given?.why === "project-paused" ? "paused" : "lost"
}

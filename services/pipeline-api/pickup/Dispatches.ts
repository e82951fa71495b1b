/**
 * Tries to dispatch one item after another until the runner has one. Items of a paused project, or of one at its cap,
 * are skipped. An item that another runner took first is lost, and after a few of these the runner is told to ask
 * again. A repeated pickup id gets the very same dispatch, and never another: a dispatch takes the pickup id as a
 * unique key in the log.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Actors, type Precondition, type UniqueKey } from "#actors"
import type { BusError } from "#bus"
import { Configuration, type ConfigurationFile } from "#configuration"
import type { PickupDispatch, PickupQuestion, ProjectState, WorkItemState } from "#pipeline/contract"
import { capDeferral, isQueuePaused, progressGrainMs } from "#pipeline"
import { Answers, Commands } from "../Commands.ts"
import { type Configured, settingsFor } from "../Creation.ts"
import { History } from "../History.ts"
import { agentRoster, type AgentRoster } from "../Routing.ts"
import type { NoWork, ReadyItem } from "./ready-items.ts"
import { Ready, type Wanted } from "./Ready.ts"
import { InFlightCount } from "./InFlightCount.ts"
import { auditorsOf, dispatchAnswer } from "./dispatch-answer.ts"

/** `again`: a precondition changed meanwhile. */
interface NotDispatched {
  readonly _tag: "NotGiven"
  readonly why: NoWork["why"] | "again"
  readonly reason: string | null
}

/** The dispatch for the pickup id has ended. */
interface Over extends NotDispatched {
  readonly why: "over"
}

// Each try is a read and a write of the broker; a runner that loses this many is told to ask again.
const triesMax = 8
// A runner without an answer asks again within seconds.
const pickupKeptSeconds = 3_600

const notDispatched = (why: NotDispatched["why"], reason: string | null = null): NotDispatched => ({
  _tag: "NotGiven",
  why,
  reason
})

export class Dispatches extends Context.Service<
  Dispatches,
  {
    readonly first: (
      question: PickupQuestion,
      wanted: Wanted,
      preconditions: ReadonlyArray<Precondition>
    ) => Effect.Effect<PickupDispatch | NotDispatched, BusError>
    /** The runner's earlier dispatch for this pickup id; undefined if none. */
    readonly again: (question: PickupQuestion) => Effect.Effect<PickupDispatch | Over | undefined, BusError>
  }
>()("starling/pipeline-api/Dispatches") {
  static readonly layer = Layer.effect(
    Dispatches,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const parts: Parts = {
        configured,
        roster: agentRoster(configured.Agents),
        commands: yield* Commands,
        inFlightCount: yield* InFlightCount,
        answers: yield* Answers,
        history: yield* History,
        ready: yield* Ready
      }
      const { ready } = parts
      const actors = yield* Actors

      const first = Effect.fn("Dispatches.first")(function* (
        question: PickupQuestion,
        wanted: Wanted,
        preconditions: ReadonlyArray<Precondition>
      ) {
        const passedOver = new Map<string, NotDispatched>()
        let left = triesMax
        for (const item of ready.candidates(wanted, yield* Clock.currentTimeMillis)) {
          if (passedOver.has(item.projectId) || !ready.isFree(item)) continue
          if (left-- === 0) return notDispatched("busy")
          const given = yield* claim(parts, { item, question, preconditions })
          if (given === undefined) continue
          if (given._tag === "Dispatch" || given.why === "again") return given
          passedOver.set(item.projectId, given)
        }
        const [because] = passedOver.values()
        return because ?? notDispatched(left < triesMax ? "busy" : "empty")
      })

      const again = Effect.fn("Dispatches.again")(function* ({ pickupId }: PickupQuestion) {
        const key = yield* actors.uniqueKey(pickupKey(pickupId))
        if (Option.isNone(key)) return undefined
        const { id } = key.value
        const found = yield* parts.commands.read("workitem", id)
        const given = Option.isSome(found)
          ? yield* answerOf(parts, { id, item: found.value.state, pickupId })
          : undefined
        const reason = `work item ${id} was given for this pickup id, and that is over`
        return given ?? ({ _tag: "NotGiven", why: "over", reason } satisfies Over)
      })
      return Dispatches.of({ first, again })
    })
  )
}

interface Parts {
  readonly configured: Configured & Pick<ConfigurationFile, "Budget" | "DiskGuard">
  readonly roster: AgentRoster
  readonly commands: Commands["Service"]
  readonly inFlightCount: InFlightCount["Service"]
  readonly answers: Answers["Service"]
  readonly history: History["Service"]
  readonly ready: Ready["Service"]
}

/** One try: an item for a runner. */
interface Try {
  readonly item: ReadyItem
  readonly question: PickupQuestion
  readonly preconditions: ReadonlyArray<Precondition>
}

/** Claims the item, so that this process does not try it for another runner meanwhile. Undefined: lost. */
const claim = Effect.fnUntraced(function* (
  parts: Parts,
  tried: Try
): Effect.fn.Return<PickupDispatch | NotDispatched | undefined, BusError> {
  const { item, question } = tried
  const claimed = parts.ready.claim(item, { agent: question.agent, dispatchId: question.pickupId })
  let dispatchedAt: number | undefined
  const onDispatched = (sequence: number) => claimed.done((dispatchedAt = sequence))
  const letGo = Effect.sync(() => {
    if (dispatchedAt === undefined) claimed.done(undefined)
  })
  const taken = yield* Effect.ensuring(letProject(parts, tried, onDispatched), letGo)
  if (taken === undefined || "_tag" in taken) return taken
  return yield* answerOf(parts, { id: item.id, item: taken, pickupId: question.pickupId })
})

/**
 * Dispatches the item within its project's rules: not while the project is paused, nor beyond its cap. Undefined: lost.
 */
const letProject = Effect.fnUntraced(function* (
  parts: Parts,
  { item, question, preconditions }: Try,
  onDispatched: (sequence: number) => void
) {
  const stored = yield* parts.commands.read("project", item.projectId)
  const project = Option.getOrUndefined(Option.map(stored, ({ state }) => state))
  if (project !== undefined && isQueuePaused(project)) return notDispatched("project-paused")
  const sequence = Option.match(stored, { onNone: () => 0, onSome: (known) => known.sequence })
  const all = [...preconditions, { entity: "project", id: item.projectId, sequence }]
  const give = (capKeys: ReadonlyArray<UniqueKey>) =>
    unlessCapped(parts, { item, question, preconditions: all, project, capKeys, onDispatched })
  const uncounted = () => notDispatched("busy", "the project's number of items in progress is not known at the moment")
  return yield* (
    project !== undefined && hasCap(project)
      ? parts.inFlightCount.whileKnown({ id: item.projectId, sequence }, (key) => give([key]), uncounted)
      : give([])
  ).pipe(
    Effect.catchTag("PreconditionFailed", () => Effect.succeed(notDispatched("again"))),
    Effect.catchTag(["Refusal", "EntityNotFound", "EntityBusy"], () => Effect.succeed(undefined))
  )
})

interface ProjectTry extends Try {
  readonly project: ProjectState | undefined
  readonly capKeys: ReadonlyArray<UniqueKey>
  readonly onDispatched: (sequence: number) => void
}

const unlessCapped = Effect.fnUntraced(function* (parts: Parts, tried: ProjectTry) {
  const capped = yield* putOff(parts, tried)
  if (capped !== undefined) return notDispatched("budget", capped)
  const { state, sequence } = yield* dispatch(parts, tried)
  if (state === null) return undefined
  tried.onDispatched(sequence)
  return state
})

/** Puts the item off if its project is at its cap, and then returns the reason. */
const putOff = Effect.fnUntraced(function* (
  { configured, commands, ready }: Parts,
  { item, question, project }: ProjectTry
) {
  if (project === undefined) return undefined
  const retryAfterMs = configured.Budget.RetryAfterSeconds * 1_000
  const suggestedRetryAtMs = Math.round((yield* Clock.currentTimeMillis) + retryAfterMs)
  const inFlight = ready.inFlight(item.projectId, question.agent)
  const deferral = capDeferral(project.settings, inFlight, suggestedRetryAtMs)
  if (deferral === undefined || deferral.kind !== "budget") return undefined
  const address = { id: item.id, commandId: `${question.pickupId}.defer` }
  yield* Effect.ignore(commands.run("workitem", address, { _tag: "Defer", dispatchId: null, deferral }))
  return deferral.reason
})

/** The command itself, under the pickup's id. */
export const dispatch = (
  { configured, roster, commands }: Parts,
  { item, question, project, preconditions, capKeys }: ProjectTry
) => {
  const { agent, agentInstanceId, runner, sandboxId, pickupId } = question
  const { ProgressSeconds, ProgressTimeoutSeconds } = configured.Pipeline
  const first: UniqueKey = { name: pickupKey(pickupId), sequence: 0, keptSeconds: pickupKeptSeconds }
  return commands.run(
    "workitem",
    { id: item.id, commandId: pickupId, preconditions, uniqueKeys: [first, ...capKeys] },
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
      progressGrainMs: progressGrainMs(ProgressSeconds * 1_000, ProgressTimeoutSeconds * 1_000)
    }
  )
}

const pickupKey = (pickupId: string) => `pickup ${pickupId}`

/** The runner's answer; undefined if the item no longer belongs to the runner. */
const answerOf = Effect.fnUntraced(function* (
  { configured, answers, history }: Parts,
  { id, item, pickupId }: { readonly id: string; readonly item: WorkItemState; readonly pickupId: string }
) {
  const { dispatch: inHand } = item
  if (inHand?.dispatchId !== pickupId) return undefined
  const replies = yield* answers.take(id, pickupId)
  const findings = inHand.phase === "rework" ? yield* history.lastFindings(id) : []
  return dispatchAnswer(id, { item, dispatch: inHand, replies, findings, configured })
})

const hasCap = ({ settings }: ProjectState) =>
  settings.maxInFlightItems !== null || settings.maxInFlightItemsPerAgent !== null

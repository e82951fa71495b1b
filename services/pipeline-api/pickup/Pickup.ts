/**
 * Gives runners work: the first of the ready items that their agent can take, by priority and age. Every condition
 * checked on the way is a precondition of the dispatch itself: queue, agent and project allow it, the project is below
 * its cap, and the pickup id has no dispatch yet. So an acknowledged pause stops every dispatch after it, and a cap
 * holds over all replicas. Every pickup after an acknowledged resume takes it into account; a runner that can wait
 * waits through a pause.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { BusError } from "#bus"
import { agentIdOf, type PickupAnswer, type PickupQuestion, queueId } from "#pipeline/contract"
import { Configuration, type ConfigurationFile } from "#configuration"
import { Metrics } from "#runtime"
import { Commands } from "../Commands.ts"
import { type AgentRoster, agentRoster, Routing } from "../Routing.ts"
import { pickupsTotal } from "../metrics.ts"
import { Dispatches } from "./Dispatches.ts"
import { Ready, type Waiting, type Wanted } from "./Ready.ts"
import { agentCondition, diskCondition, namesOnlyOf, type NoWork, parkReason, queueCondition } from "./ready-items.ts"
import { FullDisks } from "./FullDisks.ts"
import { catchUp } from "./catch-up.ts"

// Conditions that keep changing while they are checked mean a conflict between others.
const roundsMax = 4
// Items parked for one question; the next question parks more.
const parkedMax = 16
const busyRetryMs = 50
const outageRetryMs = 2_000

// Obstacles that pass without the runner, and whose end is noticed here. For a cap, a disk or a conflict the runner
// must ask again.
const waitedOut: ReadonlySet<string> = new Set([
  "empty",
  "queue-paused",
  "project-paused",
  "agent-paused",
  "agent-benched"
])
// Reasons based on the views, which are a moment behind: a lost item can be one that they still show as ready.
const isAsShown = ({ why, reason }: NoWork) =>
  why === "empty" || why === "project-paused" || (why === "busy" && reason === null)

export class Pickup extends Context.Service<
  Pickup,
  {
    readonly next: (question: PickupQuestion) => Effect.Effect<PickupAnswer>
    /** From now on no runner gets work, and waiting runners are told so. */
    readonly stop: Effect.Effect<void>
  }
>()("starling/pipeline-api/Pickup") {
  static readonly layer = Layer.effect(
    Pickup,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const answered = (yield* Metrics).counter(pickupsTotal)
      const ready = yield* Ready
      let isStopped = false
      const parts: Parts = {
        configured,
        roster: agentRoster(configured.Agents),
        commands: yield* Commands,
        routing: yield* Routing,
        dispatches: yield* Dispatches,
        ready,
        fullDisks: yield* FullDisks,
        caughtUp: yield* catchUp,
        isStopped: () => isStopped
      }

      const next = Effect.fn("Pickup.next")(function* (question: PickupQuestion) {
        const given: PickupAnswer = yield* Effect.catch(untilDispatched(parts, question), (error) =>
          Effect.as(Effect.logWarning("a runner could not be given anything", error), {
            ...nothing(parts, { why: "busy", reason: "the log cannot be reached just now" }),
            retryAfterMs: outageRetryMs
          })
        )
        answered.inc({ answer: given._tag === "Dispatch" ? "dispatch" : given.why })
        return given
      })
      const stop = Effect.sync(() => void (isStopped = true))
      return Pickup.of({ next, stop: Effect.andThen(stop, ready.wakeAll) })
    })
  )
}

interface Parts {
  readonly configured: Pick<ConfigurationFile, "DiskGuard" | "PipelineApi">
  readonly roster: AgentRoster
  readonly commands: Commands["Service"]
  readonly routing: Routing["Service"]
  readonly dispatches: Dispatches["Service"]
  readonly ready: Ready["Service"]
  readonly fullDisks: FullDisks["Service"]
  readonly caughtUp: (wanted: Wanted) => Effect.Effect<void, BusError>
  readonly isStopped: () => boolean
}

/** Tries, and retries whenever there can be work, for as long as the runner can wait. */
const untilDispatched = Effect.fnUntraced(function* (
  parts: Parts,
  question: PickupQuestion
): Effect.fn.Return<PickupAnswer, BusError> {
  const { configured, roster, ready } = parts
  if (!roster.isKind(question.agent)) {
    return nothing(parts, { why: "agent-unknown", reason: "the configuration does not name this agent" })
  }
  const before = yield* givenBefore(parts, question)
  if (before !== undefined) return before
  const wanted = wantedBy(roster, question)
  const waitMs = Math.min(question.waitMs ?? 0, configured.PipelineApi.PickupWaitSeconds * 1_000)
  const endsAtMs = (yield* Clock.currentTimeMillis) + waitMs
  let isBehind = true
  while (true) {
    if (parts.isStopped()) return nothing(parts, { why: "draining", reason: null })
    const given = yield* attempt(parts, question, wanted)
    if (given._tag === "Dispatch") return given
    if (isBehind && isAsShown(given)) {
      isBehind = false
      yield* parts.caughtUp(wanted)
      continue
    }
    const leftMs = endsAtMs - (yield* Clock.currentTimeMillis)
    if (!waitedOut.has(given.why) || leftMs <= 0) return given
    yield* ready.wait(wanted, leftMs)
  }
})

/** Checks queue, agent and disks, then dispatches on the precondition that they have not changed. */
const attempt = Effect.fnUntraced(function* (
  parts: Parts,
  question: PickupQuestion,
  wanted: Wanted
): Effect.fn.Return<PickupAnswer, BusError> {
  const { commands, configured, dispatches, fullDisks, ready, routing } = parts
  for (let round = 0; round < roundsMax; round++) {
    // The change can mean that another replica, asked the same, gave out an item.
    const before = round === 0 ? undefined : yield* givenBefore(parts, question)
    if (before !== undefined) return before
    const nowMs = yield* Clock.currentTimeMillis
    if (ready.candidates(wanted, nowMs).length === 0) {
      return nothing(parts, { why: ready.isBlocked(wanted) ? "project-paused" : "empty", reason: null })
    }
    const [queue, agent] = yield* Effect.all(
      [commands.read("queue", queueId), routing.holdOn(question.agent, question.agentInstanceId)],
      { concurrency: 2 }
    )
    const queueState = Option.getOrUndefined(Option.map(queue, ({ state }) => state))
    const condition =
      queueCondition(queueState) ?? agentCondition(agent) ?? diskCondition(question, configured.DiskGuard)
    if (condition !== undefined) {
      if (condition.why === "agent-paused") yield* park(parts, question)
      if (condition.why === "disk") yield* fullDisks.report(question)
      return nothing(parts, condition)
    }
    const sequence = Option.match(queue, { onNone: () => 0, onSome: (held) => held.sequence })
    const preconditions = [{ entity: "queue", id: queueId, sequence }, ...agent.preconditions]
    const given = yield* dispatches.first(question, wanted, preconditions)
    if (given._tag === "Dispatch") return given
    if (given.why !== "again") return nothing(parts, { why: given.why, reason: given.reason })
  }
  return nothing(parts, { why: "busy", reason: null })
})

/** Parks items that have no agent left: they wait for the agent instead of for a runner. */
const park = Effect.fnUntraced(function* ({ commands, ready, roster, routing }: Parts, question: PickupQuestion) {
  const kind = question.agent
  const { hold, reason, preconditions } = yield* routing.holdOn(kind, null)
  // A paused instance leaves the kind's other instances.
  if (hold !== "Paused") return
  const nowMs = yield* Clock.currentTimeMillis
  const wanted = { names: namesOnlyOf(roster, kind), phases: question.phases }
  const command = { _tag: "ParkForAgent", reason: parkReason(kind, reason, nowMs) } as const
  yield* Effect.forEach(
    ready.candidates(wanted, nowMs).slice(0, parkedMax),
    ({ id }) => Effect.ignore(commands.run("workitem", { id, commandId: randomUUID(), preconditions }, command)),
    { concurrency: 4, discard: true }
  )
})

const givenBefore = (parts: Parts, question: PickupQuestion) =>
  Effect.map(parts.dispatches.again(question), (given) => (given?._tag === "NotGiven" ? nothing(parts, given) : given))

const nothing = ({ configured }: Parts, { why, reason }: NoWork): PickupAnswer => ({
  _tag: "Nothing",
  retryAfterMs: why === "busy" ? busyRetryMs : configured.PipelineApi.PickupRetryMilliseconds,
  why,
  reason
})

const wantedBy = (roster: AgentRoster, question: PickupQuestion): Waiting => ({
  names: roster.namesFor(question.agent),
  soleNames: namesOnlyOf(roster, question.agent),
  phases: question.phases.filter((phase) => roster.takesPhase(question.agent, phase)),
  agentIds: [question.agent, ...instanceOf(question)]
})

const instanceOf = ({ agent, agentInstanceId }: PickupQuestion) =>
  agentInstanceId === null ? [] : [agentIdOf(agent, agentInstanceId)]

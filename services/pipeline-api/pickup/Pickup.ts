/**
 * Gives runners something to do: the first of the ready items that their agent may take, by priority and age. What is
 * decided on the way, that queue, agent and project let it go, that the project has no more in hand than it may, and
 * that nothing was given for the pickup id yet, is a condition of the dispatch itself: a pause that was answered stops
 * every dispatch after it, and a cap holds over all replicas. A resume that was answered is seen by
 * every pickup after it; a runner that may wait waits through a pause.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { BusError } from "#bus"
import { agentIdOf, type PickupAnswer, type PickupQuestion, queueId } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { Commands } from "../Commands.ts"
import { agentRoster, Routing } from "../Routing.ts"
import { pickupSeconds, pickupsTotal } from "../metrics.ts"
import { Dispatches } from "./Dispatches.ts"
import { FullDisks } from "./FullDisks.ts"
import { Ready, type Waiting, type Wanted } from "./Ready.ts"
import { catchUp } from "./catch-up.ts"
import { agentCondition, diskCondition, namesOfAlone, type Nothing, parkReason, queueCondition } from "./conditions.ts"

// Conditions that change while they are looked at, again and again, are somebody's quarrel.
const roundsMax = 4
// Parked for one asker; the next one goes on.
const parkedMax = 16
const busyRetryMs = 50
const awayRetryMs = 2_000

// What ends without the runner's doing, and is seen when it does. A cap, a disk or a quarrel is for it to ask again.
const waitedOut: ReadonlySet<string> = new Set([
  "empty",
  "queue-paused",
  "project-paused",
  "agent-paused",
  "agent-benched"
])
// What the views say, which are a moment behind: an item that is lost may be one that they show as it was.
const isAsShown = ({ why, reason }: Nothing) =>
  why === "empty" || why === "project-paused" || (why === "busy" && reason === null)

export class Pickup extends Context.Service<
  Pickup,
  {
    readonly next: (question: PickupQuestion) => Effect.Effect<PickupAnswer>
    /** From now on nobody is given anything, and whoever waits is told so. */
    readonly stop: Effect.Effect<void>
  }
>()("starling/pipeline-api/Pickup") {
  static readonly layer = Layer.effect(
    Pickup,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const commands = yield* Commands
      const routing = yield* Routing
      const dispatches = yield* Dispatches
      const ready = yield* Ready
      const fullDisks = yield* FullDisks
      const caughtUp = yield* catchUp
      const metrics = yield* Metrics
      const answered = metrics.counter(pickupsTotal)
      const seconds = metrics.histogram(pickupSeconds)
      const roster = agentRoster(configured.Agents)
      const { PickupRetryMilliseconds, PickupWaitSeconds } = configured.PipelineApi
      let isStopped = false

      const nothing = ({ why, reason }: Nothing): PickupAnswer => ({
        _tag: "Nothing",
        retryAfterMs: why === "busy" ? busyRetryMs : PickupRetryMilliseconds,
        why,
        reason
      })

      /** Items for which nobody is left wait for the agent instead of for a runner. */
      const park = Effect.fnUntraced(function* (question: PickupQuestion) {
        const kind = question.agent
        const { hold, reason, preconditions } = yield* routing.holdOn(kind, null)
        // An instance that is paused leaves the others.
        if (hold !== "Paused") return
        const nowMs = yield* Clock.currentTimeMillis
        const wanted = { names: namesOfAlone(roster, kind), phases: question.phases }
        const command = { _tag: "ParkForAgent", reason: parkReason(kind, reason, nowMs) } as const
        yield* Effect.forEach(
          ready.candidates(wanted, nowMs).slice(0, parkedMax),
          ({ id }) => Effect.ignore(commands.run("workitem", { id, commandId: randomUUID(), preconditions }, command)),
          { concurrency: 4, discard: true }
        )
      })

      const again = (question: PickupQuestion) =>
        Effect.map(dispatches.again(question), (given) => (given?._tag === "NotGiven" ? nothing(given) : given))

      const attempt = Effect.fnUntraced(function* (
        question: PickupQuestion,
        wanted: Wanted
      ): Effect.fn.Return<PickupAnswer, BusError> {
        for (let round = 0; round < roundsMax; round++) {
          // What changed may be that another replica, asked the same, gave something.
          const before = round === 0 ? undefined : yield* again(question)
          if (before !== undefined) return before
          const nowMs = yield* Clock.currentTimeMillis
          if (ready.candidates(wanted, nowMs).length === 0) {
            return nothing({ why: ready.isHeldUp(wanted) ? "project-paused" : "empty", reason: null })
          }
          const [queue, agent] = yield* Effect.all(
            [commands.read("queue", queueId), routing.holdOn(question.agent, question.agentInstanceId)],
            { concurrency: 2 }
          )
          const queueState = Option.getOrUndefined(Option.map(queue, ({ state }) => state))
          const condition =
            queueCondition(queueState) ?? agentCondition(agent) ?? diskCondition(question, configured.DiskGuard)
          if (condition !== undefined) {
            if (condition.why === "agent-paused") yield* park(question)
            if (condition.why === "disk") yield* fullDisks.tell(question)
            return nothing(condition)
          }
          const sequence = Option.match(queue, { onNone: () => 0, onSome: (held) => held.sequence })
          const preconditions = [{ entity: "queue", id: queueId, sequence }, ...agent.preconditions]
          const given = yield* dispatches.first(question, wanted, preconditions)
          if (given._tag === "Dispatch") return given
          if (given.why !== "again") return nothing({ why: given.why, reason: given.reason })
        }
        return nothing({ why: "busy", reason: null })
      })

      const ask = Effect.fnUntraced(function* (question: PickupQuestion) {
        if (!roster.isKind(question.agent)) {
          return nothing({ why: "agent-unknown", reason: "the configuration does not name this agent" })
        }
        const before = yield* again(question)
        if (before !== undefined) return before
        const wanted: Waiting = {
          names: roster.namesFor(question.agent),
          alone: namesOfAlone(roster, question.agent),
          phases: question.phases.filter((phase) => roster.takesPhase(question.agent, phase)),
          agentIds: [question.agent, ...instanceOf(question)]
        }
        const waitMs = Math.min(question.waitMs ?? 0, PickupWaitSeconds * 1_000)
        const endsAtMs = (yield* Clock.currentTimeMillis) + waitMs
        let isBehind = true
        while (true) {
          const startedMs = yield* Clock.currentTimeMillis
          if (isStopped) return nothing({ why: "draining", reason: null })
          const given = yield* attempt(question, wanted)
          const nowMs = yield* Clock.currentTimeMillis
          if (given._tag === "Dispatch") {
            seconds.observe({}, (nowMs - startedMs) / 1_000)
            return given
          }
          if (isBehind && isAsShown(given)) {
            isBehind = false
            yield* caughtUp(wanted)
            continue
          }
          if (!waitedOut.has(given.why) || nowMs >= endsAtMs) return given
          yield* ready.wait(wanted, endsAtMs - nowMs)
        }
      })

      const next = Effect.fn("Pickup.next")(function* (question: PickupQuestion) {
        const given: PickupAnswer = yield* Effect.catch(ask(question), (error) =>
          Effect.as(Effect.logWarning("a runner could not be given anything", error), {
            ...nothing({ why: "busy", reason: "the log cannot be reached just now" }),
            retryAfterMs: awayRetryMs
          })
        )
        answered.inc({ answer: given._tag === "Dispatch" ? "dispatch" : given.why })
        return given
      })
      return Pickup.of({
        next,
        stop: Effect.andThen(
          Effect.sync(() => void (isStopped = true)),
          ready.wakeAll
        )
      })
    })
  )
}

const instanceOf = ({ agent, agentInstanceId }: PickupQuestion) =>
  agentInstanceId === null ? [] : [agentIdOf(agent, agentInstanceId)]

/**
 * Gives runners work: the first of the ready items that their agent may take, by priority and age. Every condition
 * checked on the way is a precondition of the dispatch itself: queue, agent and project allow it, the project is below
 * its cap, and the pickup id has no dispatch yet. So an answered pause stops every dispatch after it, and a cap holds
 * over all replicas. Every pickup after an answered resume sees it; a runner that may wait waits through a pause.
 *
 * Questions of runners over the bus, one queue group over all replicas. `pickup.next.<agent kind>` asks for work: a
 * runner may wait for an answer, in a line of bounded length, and a drain tells it at once to ask another replica.
 * `pickup.held` asks whether the runner still holds its item. The leader's state answers it, so that the answer never
 * contradicts a cancel that was answered before.
 *
 * The event of a launch that was refused for want of disk space. A runner on a full disk asks every few seconds and is
 * refused every time, so one event goes out for each runner and mount, and another when the suggested time for the next
 * try has come. Each replica may send its own; no pickup waits for it or fails with it.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Deferred, Effect, Layer, Option, Semaphore } from "effect"
import { type BusError, jsonCodec, Kv, Publisher, Requests, StreamReader } from "#bus"
import { agentIdOf, HeldAnswer, HeldQuestion, PickupAnswer, PickupQuestion, queueId } from "#pipeline/contract"
import { Configuration, type ConfigurationFile } from "#configuration"
import { Envelope, eventSchemaVersion, isoTime, subjects } from "#base"
import { Drain, Metrics } from "#runtime"
import { Commands } from "../Commands.ts"
import { type AgentRoster, agentRoster, Routing } from "../Routing.ts"
import { pickupsTotal } from "../metrics.ts"
import { Dispatches } from "./Dispatches.ts"
import { Ready, type Waiting, type Wanted } from "./Ready.ts"
import {
  agentCondition,
  diskCondition,
  fullDisk,
  namesOfAlone,
  type Nothing,
  parkReason,
  queueCondition
} from "./ready-items.ts"
import { Cursor, readCursor } from "../follow-ups/FollowUps.ts"

// Far more runners than one replica answers; beyond it the oldest entry goes, and its event may be repeated.
const rememberedMax = 10_000

const event = "disk.deferred"
const envelopes = jsonCodec(Envelope)

export class FullDisks extends Context.Service<
  FullDisks,
  { readonly tell: (question: Pick<PickupQuestion, "runner" | "disks">) => Effect.Effect<void> }
>()("starling/pipeline-api/FullDisks") {
  static readonly layer = Layer.effect(
    FullDisks,
    Effect.gen(function* () {
      const { DiskGuard } = yield* Configuration
      const publisher = yield* Publisher
      const retryMs = Math.round(DiskGuard.RetryAfterSeconds * 1_000)
      /** The moment until which a runner's mount makes no further event, the oldest first. */
      const quietUntilMs = new Map<string, number>()

      const remember = (key: string, untilMs: number) => {
        quietUntilMs.delete(key)
        quietUntilMs.set(key, untilMs)
        if (quietUntilMs.size <= rememberedMax) return
        const [oldest] = quietUntilMs.keys()
        if (oldest !== undefined) quietUntilMs.delete(oldest)
      }

      const tell = Effect.fn("FullDisks.tell")(function* (question: Pick<PickupQuestion, "runner" | "disks">) {
        const full = fullDisk(question, DiskGuard)
        if (full === undefined) return
        const nowMs = yield* Clock.currentTimeMillis
        const key = JSON.stringify([question.runner, full.mountPath])
        if (nowMs < (quietUntilMs.get(key) ?? 0)) return
        // Remembered before the event goes out, so that many questions at once make one event.
        remember(key, nowMs + retryMs)
        const envelope: Envelope = {
          eventSchemaVersion,
          event,
          occurredAt: isoTime(nowMs),
          workItem: null,
          project: null,
          details: {
            mountPath: full.mountPath,
            freeBytes: full.freeBytes,
            thresholdBytes: DiskGuard.MinFreeBytes,
            suggestedRetryAt: isoTime(nowMs + retryMs)
          }
        }
        const forget = Effect.sync(() => quietUntilMs.delete(key))
        yield* publisher.publish(subjects.event(event), envelopes, envelope).pipe(
          Effect.tapError(() => forget),
          Effect.catch((error) => Effect.logWarning("a full disk could not be told of", error))
        )
      })
      return FullDisks.of({ tell })
    })
  )
}

// Conditions that keep changing while they are checked are a conflict between others.
const roundsMax = 4
// Items parked for one question; the next question parks more.
const parkedMax = 16
const busyRetryMs = 50
const awayRetryMs = 2_000

// Obstacles that pass without the runner, and whose end is seen here. For a cap, a disk or a conflict the runner must
// ask again.
const waitedOut: ReadonlySet<string> = new Set([
  "empty",
  "queue-paused",
  "project-paused",
  "agent-paused",
  "agent-benched"
])
// Reasons that rest on the views, which are a moment behind: a lost item may be one that they still show as ready.
const isAsShown = ({ why, reason }: Nothing) =>
  why === "empty" || why === "project-paused" || (why === "busy" && reason === null)

export class Pickup extends Context.Service<
  Pickup,
  {
    readonly next: (question: PickupQuestion) => Effect.Effect<PickupAnswer>
    /** From now on no runner gets anything, and waiting runners are told so. */
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
        const given: PickupAnswer = yield* Effect.catch(untilGiven(parts, question), (error) =>
          Effect.as(Effect.logWarning("a runner could not be given anything", error), {
            ...nothing(parts, { why: "busy", reason: "the log cannot be reached just now" }),
            retryAfterMs: awayRetryMs
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

/** Tries, and tries again whenever there may be work, for as long as the runner may wait. */
const untilGiven = Effect.fnUntraced(function* (
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
    // The change may be that another replica, asked the same, gave something.
    const before = round === 0 ? undefined : yield* givenBefore(parts, question)
    if (before !== undefined) return before
    const nowMs = yield* Clock.currentTimeMillis
    if (ready.candidates(wanted, nowMs).length === 0) {
      return nothing(parts, { why: ready.isHeldUp(wanted) ? "project-paused" : "empty", reason: null })
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
      if (condition.why === "disk") yield* fullDisks.tell(question)
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

/** Parks items that no agent is left for: they wait for the agent instead of for a runner. */
const park = Effect.fnUntraced(function* ({ commands, ready, roster, routing }: Parts, question: PickupQuestion) {
  const kind = question.agent
  const { hold, reason, preconditions } = yield* routing.holdOn(kind, null)
  // A paused instance leaves the kind's other instances.
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

const givenBefore = (parts: Parts, question: PickupQuestion) =>
  Effect.map(parts.dispatches.again(question), (given) => (given?._tag === "NotGiven" ? nothing(parts, given) : given))

const nothing = ({ configured }: Parts, { why, reason }: Nothing): PickupAnswer => ({
  _tag: "Nothing",
  retryAfterMs: why === "busy" ? busyRetryMs : configured.PipelineApi.PickupRetryMilliseconds,
  why,
  reason
})

const wantedBy = (roster: AgentRoster, question: PickupQuestion): Waiting => ({
  names: roster.namesFor(question.agent),
  alone: namesOfAlone(roster, question.agent),
  phases: question.phases.filter((phase) => roster.takesPhase(question.agent, phase)),
  agentIds: [question.agent, ...instanceOf(question)]
})

const instanceOf = ({ agent, agentInstanceId }: PickupQuestion) =>
  agentInstanceId === null ? [] : [agentIdOf(agent, agentInstanceId)]

// The views show a record within some ten milliseconds; when they are this far behind, the pickup does not wait for
// them.
const catchUpMsMax = 2_000
const lookEveryMs = 5
// One question to the broker; follow-ups are done in runs of twenty milliseconds.
const cursorEveryMs = 20

/** Ends when earlier decisions are known here, or when that takes too long. */
/**
 * Lets a pickup see what was answered before it was asked. The views are a moment behind the log, and a follow-up wakes
 * the items that were parked for an agent. A runner that asks right after an answered resume must see it all the same.
 */
export const catchUp = Effect.gen(function* () {
  const reader = yield* StreamReader
  const ready = yield* Ready
  const cursors = yield* (yield* Kv).open("cursors", Cursor)
  const newest = yield* togetherLooked(Effect.map(reader.bounds("LOG"), ({ lastSequence }) => lastSequence))

  return Effect.fn("Pickup.catchUp")(function* (wanted: Wanted) {
    const untilMs = (yield* Clock.currentTimeMillis) + catchUpMsMax
    const until = Effect.fnUntraced(function* (everyMs: number, is: Effect.Effect<boolean, BusError>) {
      while (!(yield* is)) {
        if ((yield* Clock.currentTimeMillis) >= untilMs) return
        yield* Effect.sleep(everyMs)
      }
    })
    const seen = (sequence: number) =>
      until(
        lookEveryMs,
        Effect.sync(() => ready.hasSeen(sequence))
      )
    const asked = yield* newest
    yield* seen(asked)
    if (!ready.isParked(wanted)) return
    yield* until(
      cursorEveryMs,
      Effect.map(readCursor(cursors), (position) => position >= asked)
    )
    yield* seen(yield* newest)
  })
})

/** One read serves all questions that came before it began: at most one is in progress. */
const togetherLooked = Effect.fnUntraced(function* <A, E>(look: Effect.Effect<A, E>) {
  const scope = yield* Effect.scope
  const inTurn = yield* Semaphore.make(1)
  let next: Deferred.Deferred<A, E> | undefined
  return Effect.suspend(() => {
    if (next !== undefined) return Deferred.await(next)
    const mine = Deferred.makeUnsafe<A, E>()
    next = mine
    const begun = Effect.suspend(() => {
      next = undefined
      return Deferred.into(look, mine)
    })
    return Effect.andThen(Effect.forkIn(inTurn.withPermit(begun), scope), Deferred.await(mine))
  })
})

// Pickups in work, beside those that wait: a dispatch takes milliseconds.
const pickupsAtOnceMax = 256

/** `pickup.next.<agent kind>`: answers for the life of the scope. */
export const answerPickups = Effect.gen(function* () {
  const requests = yield* Requests
  const { next, stop } = yield* Pickup
  const { PickupWaitersMax } = (yield* Configuration).PipelineApi
  yield* requests.answer({
    subject: subjects.pickupNextAll,
    queueGroup: "pipeline-api",
    question: jsonCodec(PickupQuestion),
    answer: jsonCodec(PickupAnswer),
    concurrency: PickupWaitersMax + pickupsAtOnceMax,
    handler: next
  })
  yield* (yield* Drain).register("pickup", Effect.as(stop, { finished: 0, handedBack: 0 }))
})

// One read each. A thousand runners ask a few hundred times a second.
const heldAtOnceMax = 256
const awayMs = 2_000

/** `pickup.held`: answers for the life of the scope. */
export const answerHeld = Effect.gen(function* () {
  const requests = yield* Requests
  const commands = yield* Commands

  const standing = Effect.fnUntraced(function* ({ workItemId, dispatchId }: HeldQuestion) {
    const item = Option.getOrNull(Option.map(yield* commands.read("workitem", workItemId), ({ state }) => state))
    return item?.dispatch?.dispatchId === dispatchId
      ? HeldAnswer.cases.Held.make({})
      : HeldAnswer.cases.Over.make({ state: item?.state ?? null })
  })
  yield* requests.answer({
    subject: subjects.pickupHeld,
    queueGroup: "pipeline-api",
    question: jsonCodec(HeldQuestion),
    answer: jsonCodec(HeldAnswer),
    concurrency: heldAtOnceMax,
    handler: (asked) =>
      Effect.catch(standing(asked), (error) =>
        Effect.as(
          Effect.logWarning("a runner could not be told whether it holds its item", error),
          HeldAnswer.cases.Busy.make({ retryAfterMs: awayMs })
        )
      )
  })
})

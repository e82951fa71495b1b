/**
 * The ready items of this process: looked for anew when the views moved, at most a twentieth of the time, and corrected
 * by what was given out here since, so that no item is tried twice while the views are behind. Whoever waits for
 * something to do is woken when there is something, and no more of them than there is to do; not while the queue or
 * their agent is held, as the views show it.
 */
import { Clock, Context, Deferred, Effect, Layer, Option, Schedule } from "effect"
import { Views } from "#actors"
import { queueId, type WorkItemPhase, type WorkItemStateName } from "#contracts"
import { Metrics } from "#runtime"
import { pickupWaiters, readyItems } from "../metrics.ts"
import { agentRow } from "../views/fleet.ts"
import { readAgents, readWorkItems } from "../views/rows.ts"
import type { InFlight } from "#pipeline"
import { emptyLook, goesFirst, lookOf, type ReadyItem } from "./ready-items.ts"

export interface Wanted {
  /** Names of agents and classes. */
  readonly names: ReadonlyArray<string>
  readonly phases: ReadonlyArray<WorkItemPhase>
}

/** Who waits for something to do. */
export interface Waiting extends Wanted {
  /** The kind, and the instance that asks. Of each the holds count. */
  readonly agentIds: readonly [kind: string, ...instance: ReadonlyArray<string>]
  /** Names of which nobody else takes the items: while the kind is paused these are to be parked. */
  readonly alone: ReadonlyArray<string>
}

interface Given {
  readonly projectId: string
  readonly agent: string
  readonly dispatchId: string
  /** Of the record; infinite while it is being tried. */
  readonly sequence: number
}

const movingStates: ReadonlyArray<WorkItemStateName> = [
  "Queued",
  "Working",
  "WorkComplete",
  "Auditing",
  "AuditPassed",
  "Reworking",
  "Merging",
  "Merged",
  "UpstreamPushing",
  "Delegated",
  "ConflictRework",
  "WaitingForAgentResume"
]

const lookEveryMs = 20
const shareMax = 20
// Items that were put off are ready when their time has come, without a record that says so.
const lookAnywayMs = 1_000
// What is looked through for one asker; a look keeps items of paused projects out already.
const scannedMax = 10_000
const givenMax = 10_000

export class Ready extends Context.Service<
  Ready,
  {
    /** In the order in which they are to be given out; those that others try just now are left out. */
    readonly candidates: (wanted: Wanted, nowMs: number) => ReadonlyArray<ReadyItem>
    /** Nobody here tries it, or was given it. */
    readonly isFree: (item: ReadyItem) => boolean
    /** There are some, but their projects are paused. */
    readonly isHeldUp: (wanted: Wanted) => boolean
    /** While it is being tried nobody else here tries it. `done` with the record's sequence where it was given out. */
    readonly claim: (
      item: ReadyItem,
      taken: Pick<Given, "agent" | "dispatchId">
    ) => { readonly done: (sequence: number | undefined) => void }
    /** Without items that are only being tried. */
    readonly inFlight: (projectId: string, agent: string) => InFlight
    /** Items that the asker might take wait until an agent is resumed. */
    readonly isParked: (wanted: Wanted) => boolean
    /** What was decided up to that record of LOG is known here. */
    readonly hasSeen: (sequence: number) => boolean
    /** What is in flight can be told as of that record of LOG: the views show it, and leave nothing out that moves. */
    readonly isShown: (sequence: number) => boolean
    /** It was given out here, and the views do not show it yet. */
    readonly wasGiven: (dispatchId: string) => boolean
    /** Ends when there may be something, or when that time is over; at once when too many wait already. */
    readonly wait: (waiting: Waiting, waitMs: number) => Effect.Effect<void>
    readonly wakeAll: Effect.Effect<void>
  }
>()("starling/pipeline-api/Ready") {
  static readonly layer = (waitersMax: number) => Layer.effect(Ready, make(waitersMax))
}

const make = Effect.fnUntraced(function* (waitersMax: number) {
  const views = yield* Views
  const metrics = yield* Metrics
  const readyGauge = metrics.gauge(readyItems)
  const waitersGauge = metrics.gauge(pickupWaiters)
  const given = new Map<string, Given>()
  const waiters = new Set<{ readonly waiting: Waiting; readonly woken: Deferred.Deferred<void> }>()
  const shown = new Set<string>()
  let look = emptyLook

  const isFree = (item: ReadyItem) => {
    const taken = given.get(item.id)
    return taken === undefined || item.sequence > taken.sequence
  }
  const matching = ({ names, phases }: Wanted) =>
    names
      .flatMap((name) => (look.ready.get(name) ?? []).slice(0, scannedMax))
      .filter(({ phase }) => phases.includes(phase))
  const candidates = (wanted: Wanted, nowMs: number) =>
    matching(wanted)
      .filter((item) => item.notBeforeMs <= nowMs && !look.pausedProjects.has(item.projectId) && isFree(item))
      .toSorted(goesFirst)

  const forget = () => {
    for (const [id, { sequence }] of given) {
      const row = views.find("workitem", id)
      if (Option.isNone(row) ? sequence < views.freshness().sequence : row.value.sequence >= sequence) given.delete(id)
    }
  }
  const standingOf = (id: string, nowMs: number) => {
    const [row] = readAgents(Option.toArray(views.find("agent", id)))
    return row === undefined ? "Available" : agentRow(row, nowMs).state
  }
  const isQueuePaused = () => Option.exists(views.find("queue", queueId), ({ state }) => state === "Paused")
  /** How many of those that wait so there is something to do for. */
  const toDo = (waiting: Waiting, nowMs: number) => {
    if (isQueuePaused()) return 0
    const [kind] = waiting.agentIds
    if (standingOf(kind, nowMs) === "Paused") return candidates({ ...waiting, names: waiting.alone }, nowMs).length
    const isHeld = waiting.agentIds.some((id) => standingOf(id, nowMs) !== "Available")
    return isHeld ? 0 : candidates(waiting, nowMs).length
  }
  const wake = (nowMs: number) => {
    const left = new Map<string, number>()
    for (const waiter of waiters) {
      const key = JSON.stringify(waiter.waiting)
      const count = left.get(key) ?? toDo(waiter.waiting, nowMs)
      left.set(key, count - 1)
      if (count > 0) Deferred.doneUnsafe(waiter.woken, Effect.void)
    }
  }
  const show = () => {
    for (const name of look.ready.keys()) shown.add(name)
    for (const agent of shown) readyGauge.set({ agent }, look.ready.get(agent)?.length ?? 0)
    waitersGauge.set({}, waiters.size)
  }

  let seen = -1
  let nextMs = 0
  let anywayMs = 0
  const refresh = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const nowMs = clock.currentTimeMillisUnsafe()
    const { sequence } = views.freshness()
    if (nowMs < nextMs || (sequence === seen && nowMs < anywayMs)) return
    seen = sequence
    look = lookOf(
      readWorkItems(views.list({ entity: "workitem", states: movingStates })),
      views.list({ entity: "project" })
    )
    forget()
    wake(nowMs)
    show()
    const tookMs = clock.currentTimeMillisUnsafe() - nowMs
    nextMs = nowMs + tookMs * shareMax
    anywayMs = nowMs + lookAnywayMs
  })
  yield* refresh
  yield* Effect.forkScoped(Effect.repeat(refresh, Schedule.spaced(lookEveryMs)))

  return Ready.of({
    candidates,
    isFree,
    isHeldUp: (wanted) => matching(wanted).some(({ projectId }) => look.pausedProjects.has(projectId)),
    claim: ({ id, projectId }, taken) => {
      given.set(id, { projectId, ...taken, sequence: Infinity })
      return {
        done: (sequence) => {
          // What is not remembered is tried, and refused by its actor.
          if (sequence === undefined || given.size > givenMax) given.delete(id)
          else given.set(id, { projectId, ...taken, sequence })
        }
      }
    },
    inFlight: (projectId, agent) => {
      const known = look.inHand.filter((item) => item.projectId === projectId)
      const ids = new Set(known.map(({ id }) => id))
      const more = [...given]
        .filter(([id, item]) => item.projectId === projectId && item.sequence < Infinity && !ids.has(id))
        .map(([, item]) => item)
      const all = [...known, ...more]
      return { agent, items: all.length, itemsOfAgent: all.filter((item) => item.agent === agent).length }
    },
    isParked: ({ names }) => names.some((name) => look.parkedFor.has(name)),
    hasSeen: (sequence) => seen >= sequence,
    isShown: (sequence) => seen >= sequence && views.isWhole(),
    wasGiven: (dispatchId) =>
      [...given.values()].some((item) => item.dispatchId === dispatchId && item.sequence < Infinity),
    wait: (waiting, waitMs) =>
      Effect.suspend(() => {
        if (waiters.size >= waitersMax) return Effect.void
        const waiter = { waiting, woken: Deferred.makeUnsafe<void>() }
        waiters.add(waiter)
        return Effect.asVoid(Effect.timeoutOption(Deferred.await(waiter.woken), waitMs)).pipe(
          Effect.ensuring(Effect.sync(() => waiters.delete(waiter)))
        )
      }),
    wakeAll: Effect.sync(() => {
      for (const { woken } of waiters) Deferred.doneUnsafe(woken, Effect.void)
    })
  })
})

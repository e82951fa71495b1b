/**
 * The ready items of this process. It rereads the views when they have changed, for at most a twentieth of the time,
 * and corrects them by what this process has given out since. Waiting runners wake when the views show work for them.
 */
import { Clock, Context, Deferred, Effect, Layer, Option } from "effect"
import { Views } from "#actors"
import { queueId, type WorkItemPhase, type WorkItemStateName } from "#pipeline/contract"
import type { InFlight } from "#pipeline"
import { Metrics } from "#runtime"
import { agentsBenched, pickupWaiters, readyItems } from "../metrics.ts"
import { agentRow, readAgents, readWorkItems } from "../views.ts"
import { emptyLook, byPriority, lookOf, type ReadyItem, type ReadyLook } from "./ready-items.ts"

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

// Records come in bursts, and one read shows all of a burst.
const restMsMin = 20
// The rest after a read, as a multiple of its duration.
const shareMax = 20
// An item that was put off becomes ready when its time comes, without a record that shows it.
const lookAnywayMs = 1_000
// Items scanned for one question; items of paused projects are left out before that.
const scannedMax = 10_000

export class Ready extends Context.Service<
  Ready,
  {
    /** In dispatch order; excludes items being tried for others now. */
    readonly candidates: (wanted: Wanted, nowMs: number) => ReadonlyArray<ReadyItem>
    /** This process neither tries the item nor has given it out. */
    readonly isFree: (item: ReadyItem) => boolean
    /** There are items, but their projects are paused. */
    readonly isBlocked: (wanted: Wanted) => boolean
    /**
     * Claims the item, so that this process does not try it for another runner meanwhile. `done` takes the record's
     * sequence if it was given out.
     */
    readonly claim: (
      item: ReadyItem,
      taken: Pick<DispatchedItem, "agent" | "dispatchId">
    ) => { readonly done: (sequence: number | undefined) => void }
    /** Does not count items that are only being tried. */
    readonly inFlight: (projectId: string, agent: string) => InFlight
    /** Items that the runner could take wait until an agent is resumed. */
    readonly isParked: (wanted: Wanted) => boolean
    /** Completes when everything decided up to that record of LOG is known here. */
    readonly seen: (sequence: number) => Effect.Effect<void>
    /** Completes when the number in flight is known as of that record: the views show it, and omit no moving item. */
    readonly shown: (sequence: number) => Effect.Effect<void>
    /** The dispatch was made here, and the views do not show it yet. */
    readonly wasDispatched: (dispatchId: string) => boolean
    /** Completes when there can be work, or when the time is over; at once when too many runners wait already. */
    readonly wait: (waiting: Waiting, waitMs: number) => Effect.Effect<void>
    readonly wakeAll: Effect.Effect<void>
  }
>()("starling/pipeline-api/Ready") {
  static readonly layer = (waitersMax: number) => Layer.effect(Ready, make(waitersMax))
}

const make = Effect.fnUntraced(function* (waitersMax: number) {
  const views = yield* Views
  const show = yield* gauges
  const showBenched = yield* benchedGauge
  const given = givenItems()
  const runners = waitingRunners(waitersMax)
  let look = emptyLook
  let seen = -1
  let looked = Deferred.makeUnsafe<void>()
  const until = (is: () => boolean): Effect.Effect<void> =>
    Effect.suspend(() => (is() ? Effect.void : Effect.andThen(Deferred.await(looked), until(is))))

  const candidates = (wanted: Wanted, nowMs: number) =>
    matching(look, wanted)
      .filter((item) => item.notBeforeMs <= nowMs && !look.pausedProjects.has(item.projectId) && given.isFree(item))
      .toSorted(byPriority)

  yield* keepLooking(views, (sequence, nowMs) => {
    seen = sequence
    look = lookOf(
      readWorkItems(views.list({ entity: "workitem", states: movingStates })),
      views.list({ entity: "project" })
    )
    given.forget((id, given) => isInViews(views, id, given))
    runners.wake((waiting) => toDo({ views, candidates }, waiting, nowMs))
    show(look, runners.count())
    showBenched(readAgents(views.list({ entity: "agent" })).map((row) => agentRow(row, nowMs)))
    Deferred.doneUnsafe(looked, Effect.void)
    looked = Deferred.makeUnsafe()
  })

  return Ready.of({
    candidates,
    isFree: given.isFree,
    isBlocked: (wanted) => matching(look, wanted).some(({ projectId }) => look.pausedProjects.has(projectId)),
    claim: given.claim,
    inFlight: (projectId, agent) => {
      const known = look.inHand.filter((item) => item.projectId === projectId)
      const ids = new Set(known.map(({ id }) => id))
      const more = given.ofProject(projectId).flatMap(([id, item]) => (ids.has(id) ? [] : [item]))
      const all = [...known, ...more]
      return { agent, items: all.length, itemsOfAgent: all.filter((item) => item.agent === agent).length }
    },
    isParked: ({ names }) => names.some((name) => look.parkedFor.has(name)),
    seen: (sequence) => until(() => seen >= sequence),
    shown: (sequence) => until(() => seen >= sequence && views.isComplete()),
    wasDispatched: given.wasDispatched,
    wait: runners.wait,
    wakeAll: runners.wakeAll
  })
})

/** Reads the views while the scope is open. `look` gets their position. */
const keepLooking = Effect.fnUntraced(function* (
  views: Views["Service"],
  look: (sequence: number, nowMs: number) => void
) {
  const clock = yield* Clock.Clock
  const refresh = () => {
    const nowMs = clock.currentTimeMillisUnsafe()
    const { sequence } = views.freshness()
    look(sequence, nowMs)
    return { sequence, restMs: Math.max(restMsMin, (clock.currentTimeMillisUnsafe() - nowMs) * shareMax) }
  }
  let seen = refresh()
  const next = Effect.suspend(() =>
    Effect.sleep(seen.restMs).pipe(
      Effect.andThen(views.movedFrom(seen.sequence)),
      Effect.timeoutOption(Math.max(lookAnywayMs, seen.restMs)),
      Effect.andThen(Effect.sync(() => void (seen = refresh())))
    )
  )
  yield* Effect.forkScoped(Effect.forever(next))
})

const matching = (look: ReadyLook, { names, phases }: Wanted) =>
  names
    .flatMap((name) => (look.ready.get(name) ?? []).slice(0, scannedMax))
    .filter(({ phase }) => phases.includes(phase))

const isInViews = (views: Views["Service"], id: string, sequence: number) => {
  const row = views.find("workitem", id)
  return Option.isNone(row) ? sequence < views.freshness().sequence : row.value.sequence >= sequence
}

/** The number of such waiting runners that have work; zero while the queue or their agent is held. */
const toDo = (
  { views, candidates }: { readonly views: Views["Service"]; readonly candidates: Ready["Service"]["candidates"] },
  waiting: Waiting,
  nowMs: number
) => {
  const isQueuePaused = Option.exists(views.find("queue", queueId), ({ state }) => state === "Paused")
  if (isQueuePaused) return 0
  const [kind] = waiting.agentIds
  if (positionOf(views, kind, nowMs) === "Paused") {
    return candidates({ ...waiting, names: waiting.soleNames }, nowMs).length
  }
  const isOnHold = waiting.agentIds.some((id) => positionOf(views, id, nowMs) !== "Available")
  return isOnHold ? 0 : candidates(waiting, nowMs).length
}

const positionOf = (views: Views["Service"], id: string, nowMs: number) => {
  const [row] = readAgents(Option.toArray(views.find("agent", id)))
  return row === undefined ? "Available" : agentRow(row, nowMs).state
}

/** An agent that was shown once is shown with 0 when it has no items left. */
const gauges = Effect.map(Metrics, (metrics) => {
  const ready = metrics.gauge(readyItems)
  const waiters = metrics.gauge(pickupWaiters)
  const shown = new Set<string>()
  return (look: ReadyLook, waiting: number) => {
    for (const name of look.ready.keys()) shown.add(name)
    for (const agent of shown) ready.set({ agent }, look.ready.get(agent)?.length ?? 0)
    waiters.set({}, waiting)
  }
})

const benchedGauge = Effect.map(Metrics, (metrics) => {
  const benched = metrics.gauge(agentsBenched)
  return (agents: ReadonlyArray<ReturnType<typeof agentRow>>) => {
    for (const [agent, instances] of Map.groupBy(agents, (row) => row.agent))
      benched.set({ agent }, instances.some(({ state }) => state === "Benched") ? 1 : 0)
  }
})

interface DispatchedItem {
  readonly projectId: string
  readonly agent: string
  readonly dispatchId: string
  /** The record's sequence; infinite while the item is being tried. */
  readonly sequence: number
}

const dispatchedMax = 10_000

/**
 * Items given out here, until the views show it. No item is tried twice while the views are behind, and the number in
 * flight is right.
 */
const givenItems = () => {
  const given = new Map<string, DispatchedItem>()
  return {
    /** This process neither tries the item nor has given it out. */
    isFree: (item: ReadyItem) => {
      const taken = given.get(item.id)
      return taken === undefined || item.sequence > taken.sequence
    },
    /**
     * Claims the item, so that this process does not try it for another runner meanwhile. `done` takes the record's
     * sequence if it was given out.
     */
    claim: ({ id, projectId }: ReadyItem, taken: Pick<DispatchedItem, "agent" | "dispatchId">) => {
      given.set(id, { projectId, ...taken, sequence: Infinity })
      return {
        done: (sequence: number | undefined) => {
          // A forgotten item can be tried again; its actor then refuses.
          if (sequence === undefined || given.size > dispatchedMax) given.delete(id)
          else given.set(id, { projectId, ...taken, sequence })
        }
      }
    },
    /** Excludes items that are only being tried. */
    ofProject: (projectId: string): ReadonlyArray<readonly [id: string, item: DispatchedItem]> =>
      [...given].filter(([, item]) => item.projectId === projectId && item.sequence < Infinity),
    wasDispatched: (dispatchId: string) =>
      [...given.values()].some((item) => item.dispatchId === dispatchId && item.sequence < Infinity),
    /** Forgets the items that the views show, in that record or a later one. */
    forget: (isShown: (id: string, sequence: number) => boolean) => {
      for (const [id, { sequence }] of given) if (isShown(id, sequence)) given.delete(id)
    }
  }
}

export interface Wanted {
  /** Names of agents and classes. */
  readonly names: ReadonlyArray<string>
  readonly phases: ReadonlyArray<WorkItemPhase>
}

export interface Waiting extends Wanted {
  /** The kind, and the asking instance. A hold on either counts. */
  readonly agentIds: readonly [kind: string, ...instance: ReadonlyArray<string>]
  /** The names that only this kind serves: while the kind is paused, their items are parked. */
  readonly soleNames: ReadonlyArray<string>
}

/** Runners waiting for work. As many wake as there are items for. */
const waitingRunners = (waitersMax: number) => {
  const waiters = new Set<{ readonly waiting: Waiting; readonly woken: Deferred.Deferred<void> }>()
  return {
    count: () => waiters.size,
    /** Completes when the runner is woken, or when the time is over; at once when too many wait already. */
    wait: (waiting: Waiting, waitMs: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (waiters.size >= waitersMax) return Effect.void
        const waiter = { waiting, woken: Deferred.makeUnsafe<void>() }
        waiters.add(waiter)
        return Effect.asVoid(Effect.timeoutOption(Deferred.await(waiter.woken), waitMs)).pipe(
          Effect.ensuring(Effect.sync(() => waiters.delete(waiter)))
        )
      }),
    /** `toDo`: the number of such waiting runners that have work. */
    wake: (toDo: (waiting: Waiting) => number): void => {
      const left = new Map<string, number>()
      for (const { waiting, woken } of waiters) {
        const key = JSON.stringify(waiting)
        const count = left.get(key) ?? toDo(waiting)
        left.set(key, count - 1)
        if (count > 0) Deferred.doneUnsafe(woken, Effect.void)
      }
    },
    wakeAll: Effect.sync(() => {
      for (const { woken } of waiters) Deferred.doneUnsafe(woken, Effect.void)
    })
  }
}

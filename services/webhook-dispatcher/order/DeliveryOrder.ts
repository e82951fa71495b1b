/**
 * The order of endpoints with `OrderBy`. One process at a time takes the ordered endpoints of a partition, under a
 * lease. It knows all that is outstanding for them: what was stored when it took over, and what came since. Beside that
 * it keeps the gaps: of each key the last event that was given up, stored before that delivery leaves the stream, until
 * a delivery that told of it is answered with success.
 */
import { Clock, Context, Effect, Fiber, Layer, Result, Schedule, Semaphore, Stream } from "effect"
import {
  type BusError,
  BusUnavailable,
  deleted,
  kept,
  Kv,
  Leases,
  Mailbox,
  records,
  replaced,
  StreamReader
} from "#bus"
import { type Delivery, deliveryPartitionOf, KeyGap } from "#webhooks/contract"
import { deliveryStream, orderedPartition, subjects } from "#base"
import { Metrics, supervise } from "#runtime"
import { dueDeliveryCodec } from "#webhooks"
import { Endpoints } from "../endpoints/Endpoints.ts"
import { type Instant, instantOf, isProtected } from "../endpoints/presence.ts"
import { DeliveryLanes } from "../lanes.ts"
import { waitingForKey } from "../metrics.ts"
import type { Decision } from "../retry-policy.ts"
import { type Keyed, type OrderedQueue, orderedQueue } from "./queue.ts"

/** An ordered endpoint that this process takes. */
export interface OrderedEndpoint {
  readonly queue: OrderedQueue
  /** By key, the last event that was given up. */
  readonly gaps: Map<string, number>
  /** Delivered or given up, and not acked yet. */
  readonly ended: Set<number>
  /** For requests on their way, `placesMax` at once. */
  readonly places: Semaphore.Semaphore
  placesMax: number
  comparedAtMs: number
}

/** A delivery's place in an order, if it has one. */
export const keyedOf = ({ key, sequence, attempt }: Delivery): Keyed | undefined =>
  key === undefined ? undefined : { key, sequence, attempt }

export class DeliveryOrder extends Context.Service<
  DeliveryOrder,
  {
    /** From now on this process takes the ordered endpoints of a partition whenever no other one does. */
    readonly contend: (partition: number) => Effect.Effect<void>
    /** Whether this process takes the endpoint, if that is ordered. */
    readonly takes: (endpointId: string) => boolean
    /** Whether no other process can take it yet. Read before every request; never waits. */
    readonly mayLeave: (endpointId: string) => boolean
    /** Sets what runs when this process has begun or ceased to take endpoints. */
    readonly onChange: (act: Effect.Effect<void>) => Effect.Effect<void>
    readonly opened: (endpointId: string) => OrderedEndpoint | undefined
    /** Reads what is outstanding. No consumer may take the endpoint meanwhile. */
    readonly open: (endpointId: string) => Effect.Effect<OrderedEndpoint, BusError>
    readonly close: (endpointId: string) => Effect.Effect<void>
    /** Nothing more goes, but what is on its way. */
    readonly closeAll: Effect.Effect<void>
    /** Leaves all endpoints to others, for good. */
    readonly release: Effect.Effect<void>
    /** The event that the receiver of this delivery is to be told of. */
    readonly gapOf: (delivery: Delivery) => number | undefined
    /** Stores what an attempt means for its key; comes before its ack. */
    readonly settle: (delivery: Delivery, decision: Decision) => Effect.Effect<void>
    /** Of an endpoint that was removed. */
    readonly forgetGaps: (endpointId: string) => Effect.Effect<void, BusError>
  }
>()("starling/webhook-dispatcher/DeliveryOrder") {
  static readonly layer = Layer.effect(
    DeliveryOrder,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const read = yield* outstandingReader
      const gaps = yield* keptGaps
      const endpoints = new Map<string, OrderedEndpoint>()
      const closeOnly = (id: string) => {
        endpoints.get(id)?.queue.close()
        endpoints.delete(id)
      }
      const { contend, termOf, mayLeave, onChange, release } = yield* holding((partition) => {
        for (const id of endpoints.keys()) if (deliveryPartitionOf(id) === partition) closeOnly(id)
      })

      const open = Effect.fnUntraced(function* (id: string) {
        const known = endpoints.get(id)
        if (known !== undefined) return known
        const term = termOf(id)
        const queue = orderedQueue(() => clock.currentTimeMillisUnsafe())
        for (const { keyed, dueAt } of yield* read(id)) queue.known(keyed, dueAt)
        const opened: OrderedEndpoint = {
          queue,
          gaps: yield* gaps.of(id),
          ended: new Set(),
          places: Semaphore.makeUnsafe(1),
          placesMax: 1,
          comparedAtMs: 0
        }
        if (term === undefined || termOf(id) !== term)
          return yield* new BusUnavailable({ operation: "take an ordered endpoint", detail: "its lease was lost" })
        endpoints.set(id, opened)
        return opened
      })
      yield* Effect.forkScoped(Effect.repeat(compareOverdue(endpoints, read), Schedule.spaced(compareEvery)))
      yield* showWaiting(endpoints)

      return DeliveryOrder.of({
        contend,
        takes: (id) => termOf(id) !== undefined,
        mayLeave,
        onChange,
        opened: (id) => endpoints.get(id),
        open,
        close: (id) => Effect.sync(() => closeOnly(id)),
        closeAll: Effect.sync(() => {
          for (const { queue } of endpoints.values()) queue.close()
        }),
        release,
        gapOf: ({ endpointId, key }) => (key === undefined ? undefined : endpoints.get(endpointId)?.gaps.get(key)),
        settle: (delivery, decision) =>
          Effect.suspend(() => {
            const endpoint = endpoints.get(delivery.endpointId)
            const keyed = keyedOf(delivery)
            if (keyed === undefined) return Effect.void
            if (decision._tag === "Retry") return Effect.sync(() => endpoint?.queue.comesAgain(keyed, decision.dueAtMs))
            endpoint?.ended.add(keyed.sequence)
            const told = decision._tag === "Delivered"
            if (told && endpoint?.gaps.delete(keyed.key) !== true) return Effect.void
            if (!told) endpoint?.gaps.set(keyed.key, keyed.sequence)
            return gaps.set(`${delivery.endpointId}.${keyed.key}`, told ? undefined : keyed.sequence)
          }),
        forgetGaps: gaps.forget
      })
    })
  )
}

/** Holds the leases of partitions. `onLost` runs as soon as one is lost. */
const holding = Effect.fnUntraced(function* (onLost: (partition: number) => void) {
  const leases = yield* Leases
  const { instance } = yield* Mailbox
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const contended = new Map<number, Fiber.Fiber<unknown>>()
  /** By partition held, when its last stored renewal was sent. */
  const held = new Map<number, Instant>()
  const sent = new Map<number, Instant>()
  const terms = new Map<number, number>()
  let term = 0
  let act: Effect.Effect<void> = Effect.void

  const hold = (partition: number) =>
    Effect.acquireUseRelease(
      Effect.suspend(() => {
        held.set(partition, sent.get(partition) ?? instantOf(clock))
        terms.set(partition, ++term)
        return act
      }),
      () => Effect.never,
      () =>
        Effect.suspend(() => {
          held.delete(partition)
          terms.delete(partition)
          onLost(partition)
          return act
        })
    )
  const contend = (partition: number) =>
    Effect.suspend(() => {
      if (contended.has(partition)) return Effect.void
      const onWrite = () => {
        const at = instantOf(clock)
        return () => {
          sent.set(partition, at)
          if (held.has(partition)) held.set(partition, at)
        }
      }
      const lease = { key: `ordered-deliveries-${partition}`, holder: instance, onWrite }
      const keeping = supervise(`ordered deliveries ${partition}`, leases.whileHeld(lease, hold(partition)))
      return Effect.map(Effect.forkIn(keeping, scope), (fiber) => void contended.set(partition, fiber))
    })
  return {
    contend,
    /** Another one for each time that the lease is taken; undefined while it is not held. */
    termOf: (id: string) => terms.get(deliveryPartitionOf(id)),
    mayLeave: (id: string) => isProtected(held.get(deliveryPartitionOf(id)), instantOf(clock)),
    onChange: (next: Effect.Effect<void>) => Effect.sync(() => void (act = next)),
    release: Effect.suspend(() => Fiber.interruptAll(contended.values()))
  }
})

interface Outstanding {
  readonly keyed: Keyed
  readonly dueAt: number
}

/** Reads the outstanding deliveries of an endpoint in all lanes: waiting ones first, for these come due meanwhile. */
const outstandingReader = Effect.gen(function* () {
  const reader = yield* StreamReader
  const lanes = yield* DeliveryLanes
  return Effect.fnUntraced(function* (id: string): Effect.fn.Return<ReadonlyArray<Outstanding>, BusError> {
    const found: Array<Outstanding> = []
    for (const lane of lanes.all) {
      const { waitOf, due } = subjects.deliveries(lane)
      for (const subject of [waitOf(id), due(orderedPartition, id)]) {
        const { lastSequence: toSequence } = yield* reader.bounds(deliveryStream(lane))
        const stored = reader.range(deliveryStream(lane), { fromSequence: 1, toSequence, subject })
        yield* Stream.runForEach(stored, (message) =>
          Effect.sync(() => {
            const delivery = Result.getOrUndefined(dueDeliveryCodec.decode(message))?.delivery
            const keyed = delivery === undefined ? undefined : keyedOf(delivery)
            if (delivery !== undefined && keyed !== undefined) found.push({ keyed, dueAt: delivery.dueAt })
          })
        )
      }
    }
    return found
  })
})

const compareEvery = "10 seconds"
const comparedEveryMs = 60_000

/** The broker can lose what it had stored: no key waits forever for that. */
const compareOverdue = (
  endpoints: ReadonlyMap<string, OrderedEndpoint>,
  read: Effect.Success<typeof outstandingReader>
) =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    for (const [id, endpoint] of endpoints) {
      if (nowMs - endpoint.comparedAtMs < comparedEveryMs || !endpoint.queue.isOverdue()) continue
      endpoint.comparedAtMs = nowMs
      const stored = Effect.map(read(id), (found) => new Set(found.map(({ keyed }) => keyed.sequence)))
      const gone = yield* endpoint.queue.compare(stored)
      if (gone === 0) continue
      yield* Effect.logWarning("deliveries that others of their key waited for are no longer stored").pipe(
        Effect.annotateLogs({ endpoint: id, deliveries: gone })
      )
    }
  }).pipe(Effect.catch((error) => Effect.logDebug("outstanding deliveries could not be read", error)))

const showEvery = "1 second"

const showWaiting = Effect.fnUntraced(function* (opened: ReadonlyMap<string, OrderedEndpoint>) {
  const gauge = (yield* Metrics).gauge(waitingForKey)
  const { all } = yield* Endpoints
  let shown = new Set<string>()
  const show = Effect.sync(() => {
    const ordered = all().filter(({ orderKey }) => orderKey !== undefined)
    for (const { id, name } of ordered) gauge.set({ endpoint: name }, opened.get(id)?.queue.waiting() ?? 0)
    const names = new Set(ordered.map(({ name }) => name))
    for (const endpoint of shown) if (!names.has(endpoint)) gauge.end({ endpoint })
    shown = names
  })
  yield* Effect.forkScoped(Effect.repeat(show, Schedule.spaced(showEvery)))
})

const storeAgainEvery = "500 millis"

/** The gaps as stored: the first to write here is the endpoint's only taker. */
const keptGaps = Effect.gen(function* () {
  const bucket = yield* (yield* Kv).open("webhook-gaps", KeyGap)
  const { change } = records(bucket)
  const erase = (key: string) =>
    change(key, (before) => (before === undefined ? kept(undefined) : deleted(undefined, "erase")))
  return {
    of: (id: string) =>
      bucket.scan(`${id}.*`).pipe(
        Stream.runCollect,
        Effect.map((found) => new Map(found.map(({ key, value }) => [key.slice(id.length + 1), value.sequence])))
      ),
    /** Waits for a broker that is away. */
    set: (key: string, sequence: number | undefined): Effect.Effect<void> =>
      Effect.suspend(() =>
        sequence === undefined ? Effect.asVoid(erase(key)) : Effect.asVoid(change(key, () => replaced({ sequence })))
      ).pipe(
        Effect.retry({
          schedule: Schedule.spaced(storeAgainEvery),
          while: ({ _tag }) => _tag === "BusUnavailable"
        }),
        Effect.catch((error) => Effect.logError("the broker refused to store a gap", error))
      ),
    forget: (id: string) => Stream.runForEach(bucket.scan(`${id}.*`), ({ key }) => Effect.asVoid(erase(key)))
  }
})

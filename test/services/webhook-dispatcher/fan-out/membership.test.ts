import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Kv, StreamReader } from "#bus"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { Configuration } from "#configuration"
import { beginCursor, type FanOutCursor } from "#webhooks"
import { AbandonedDeliveries } from "../../../../services/webhook-dispatcher/abandoned.ts"
import { Endpoints, type LeavingEndpoint } from "../../../../services/webhook-dispatcher/endpoints/Endpoints.ts"
import type { EndpointSettings } from "../../../../services/webhook-dispatcher/endpoints/settings.ts"
import { type Membership, membershipOf } from "../../../../services/webhook-dispatcher/fan-out/membership.ts"
import { DeliveryOrder } from "../../../../services/webhook-dispatcher/order/DeliveryOrder.ts"
import { DeliveryLanes } from "../../../../services/webhook-dispatcher/lanes.ts"

// By the hash of its id it belongs to the second lane of two.
const ofSecondLane = "b"
const name = "remade"
const endpointIds = Array.from({ length: 64 }, (_, index) => endpointIdOf(`endpoint ${index}`))

interface World {
  readonly lanes: number
  /** What is stored of each lane. */
  readonly cursors: Array<FanOutCursor>
  readonly rosters: Array<Set<string>>
  all: ReadonlyArray<EndpointSettings>
  readonly leaving: Map<string, LeavingEndpoint>
  revision: number
  /** Whether the record of the one that leaves is gone, and its name free. */
  isErased: boolean
  /** The deliveries that wait in each lane. */
  readonly waiting: Array<number>
  /** The number of lanes that the fleet changes to. */
  count: number
  /** Reads what other processes have changed. */
  catchUp: (world: World) => void
  /** What happens once, between the looks at the first lane and at the second. */
  between: (world: World) => void
}

const worldOf = (lanes: number): World => ({
  lanes,
  cursors: Array.from({ length: lanes }, () => ({ ...beginCursor(35), ...(lanes === 1 ? {} : { lanes }) })),
  rosters: Array.from({ length: lanes }, () => new Set<string>()),
  all: [],
  leaving: new Map(),
  revision: 1,
  isErased: false,
  waiting: Array.from({ length: lanes }, () => 0),
  count: lanes,
  catchUp: () => undefined,
  between: () => undefined
})

const made = (world: World, id: string, startsAfter: number) => {
  world.revision += 1
  world.leaving.delete(id)
  world.isErased = false
  world.all = [{ id, name, madeAtRunTime: { startsAfter } } as never]
}

const removed = (world: World, id: string) => {
  world.revision += 1
  world.all = []
  world.leaving.set(id, { id, name, revision: world.revision })
}

const laneOf = (stream: string) => (stream === "DELIVERIES" ? 0 : Number(stream.split("-")[1]))
const lastToken = (subject: string) => subject.slice(subject.lastIndexOf(".") + 1)

const dispatcherIn = (world: World) => {
  const bucket = {
    get: (id: string) =>
      Effect.sync(() =>
        Option.map(
          Option.filter(Option.fromUndefinedOr(world.leaving.get(id)), () => !world.isErased),
          ({ revision }) => ({ value: {}, revision })
        )
      ),
    erase: (id: string) =>
      Effect.sync(() => {
        world.isErased = true
        world.leaving.delete(id)
      })
  }
  const endpoints = Layer.mock(Endpoints, {
    configured: [],
    dispatchers: () => 1,
    all: () => world.all,
    byId: (id) => world.all.find((endpoint) => endpoint.id === id),
    leaving: () => world.leaving,
    revision: () => world.revision,
    catchUp: Effect.sync(() => world.catchUp(world)),
    isRemoved: () => false,
    mayLeave: () => true,
    store: { bucket } as never
  })
  const lanes = Layer.mock(DeliveryLanes, {
    all: world.cursors.map((_cursor, lane) => lane),
    state: () => ({ count: world.lanes, before: undefined, cursors: [...world.cursors] }),
    read: Effect.sync(() => ({ count: world.lanes, before: undefined, cursors: [...world.cursors] })),
    admissions: (_lane, ids) => Effect.sync(() => new Map(ids.map((id) => [id, undefined]))),
    membersOf: (lane) => Effect.sync(() => ({ configured: {}, atRunTime: new Set(world.rosters[lane]) })),
    factsFor: () => Effect.succeed({ count: world.count, isMoved: false, others: [] }),
    ends: Effect.sync(() => world.cursors.map(() => 1))
  })
  const reader = Layer.mock(StreamReader, {
    bounds: () => Effect.succeed({ firstSequence: 1, lastSequence: 1, messages: 1 } as never),
    purge: (stream, subject) => Effect.sync(() => Number(world.rosters[laneOf(stream)]!.delete(lastToken(subject))))
  })
  const nobodyElse = { scan: () => Stream.empty } as never
  return Layer.mergeAll(
    endpoints,
    lanes,
    reader,
    Layer.mock(Kv, { open: () => Effect.succeed(nobodyElse) }),
    Configuration.layerOf({}),
    Layer.succeed(DeliveryOrder, { forgetGaps: () => Effect.void } as never),
    Layer.mock(AbandonedDeliveries, { endpoint: () => Effect.sync(() => putAwayAll(world)) })
  )
}

/** One look at all lanes, one by one. */
const putAwayAll = (world: World) => {
  let found = 0
  for (const lane of world.waiting.keys()) {
    if (lane === 1) world.between(world)
    found += world.waiting[lane]!
    world.waiting[lane] = 0
  }
  return found
}

/** A turn of a lane: its steps are stored, and what it began beside them goes on until it waits. */
const turn = Effect.fnUntraced(function* (world: World, lane: number, membership: Membership) {
  for (const { messages, cursor } of yield* membership.keep(world.cursors[lane]!)) {
    for (const { subject } of messages) {
      if (subject.includes(".roster.")) world.rosters[lane]!.add(lastToken(subject))
    }
    world.cursors[lane] = cursor
  }
  yield* TestClock.adjust("1 second")
})

describe("an endpoint that was removed and made again under its name", () => {
  it.effect("gets its own place from a lane that had no turn while it was archived", () => {
    const world = worldOf(2)
    return Effect.gen(function* () {
      const [first, second] = [yield* membershipOf(0), yield* membershipOf(1)]
      yield* TestClock.adjust("1 second")
      made(world, ofSecondLane, 35)
      yield* turn(world, 1, second)
      assert.isTrue(second.targets().some(({ id }) => id === ofSecondLane))
      removed(world, ofSecondLane)
      for (let turns = 0; turns < 4; turns += 1) yield* turn(world, 0, first)
      // The name may be free before the second lane's next turn, or wait for it.
      if (world.isErased) made(world, ofSecondLane, 126)
      yield* turn(world, 1, second)
      for (let turns = 0; turns < 4; turns += 1) yield* turn(world, 0, first)
      if (world.isErased) made(world, ofSecondLane, 126)
      yield* turn(world, 1, second)
      assert.strictEqual(world.cursors[1]?.next[ofSecondLane], 127)
    }).pipe(Effect.scoped, Effect.provide(dispatcherIn(world)))
  })

  it.effect("gets nothing that was passed on to another lane while it was archived", () => {
    const world = worldOf(2)
    world.waiting[1] = 6
    world.between = () => {
      world.waiting[0] = world.waiting[1]!
      world.waiting[1] = 0
      world.between = () => undefined
    }
    return Effect.gen(function* () {
      const [first, second] = [yield* membershipOf(0), yield* membershipOf(1)]
      yield* TestClock.adjust("1 second")
      made(world, ofSecondLane, 35)
      yield* turn(world, 1, second)
      removed(world, ofSecondLane)
      yield* turn(world, 1, second)
      for (let turns = 0; turns < 4; turns += 1) yield* turn(world, 0, first)
      assert.isTrue(world.isErased)
      assert.deepStrictEqual(world.waiting, [0, 0])
    }).pipe(Effect.scoped, Effect.provide(dispatcherIn(world)))
  })

  it.effect("gets its own place where another dispatcher was faster to put it away", () => {
    const world = worldOf(1)
    return Effect.gen(function* () {
      const membership = yield* membershipOf(0)
      yield* TestClock.adjust("1 second")
      made(world, ofSecondLane, 35)
      yield* turn(world, 0, membership)
      removed(world, ofSecondLane)
      world.isErased = true
      for (let turns = 0; turns < 4; turns += 1) yield* turn(world, 0, membership)
      world.rosters[0]?.clear()
      made(world, ofSecondLane, 126)
      yield* turn(world, 0, membership)
      assert.strictEqual(world.cursors[0]?.next[ofSecondLane], 127)
    }).pipe(Effect.scoped, Effect.provide(dispatcherIn(world)))
  })
})

describe("an endpoint that a lane has and this process has yet to read", () => {
  it.effect("leaves the lane too when the number changes", () => {
    const world = worldOf(2)
    const leaves = endpointIds.find((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 2) ?? ""
    world.rosters[0]!.add(leaves)
    world.cursors[0] = { ...beginCursor(100), lanes: 2, revision: 5 }
    world.count = 4
    world.catchUp = () => {
      made(world, leaves, 35)
      world.revision = 5
    }
    return Effect.gen(function* () {
      const first = yield* membershipOf(0)
      yield* TestClock.adjust("3 seconds")
      yield* turn(world, 0, first)
      assert.deepStrictEqual(world.cursors[0]?.left, { [leaves]: 101 })
    }).pipe(Effect.scoped, Effect.provide(dispatcherIn(world)))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { type MessageCodec, Nats, topologyOf } from "#bus"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { subjects } from "#base"
import { type FanOutCursor, fanOutRecordCodec, readFanOutCursor, rosterCodec } from "#webhooks"
import { homeOf } from "../../../../services/webhook-dispatcher/lane-cursors.ts"
import { busOn } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { arrived, publish, setUp } from "../../../support/webhooks.ts"

const lanes = [0, 1, 2, 3]
const names = Array.from({ length: 8 }, (_, index) => `lane-test-${index}`)
const ids = names.map(endpointIdOf)

/** What is written of each lane, as it is written; `onCursor` runs after each cursor. */
const watchLanes = Effect.fnUntraced(function* (onCursor: (seen: Seen) => void) {
  const { connection } = yield* Nats
  const seen: Seen = { cursors: [], rosters: lanes.map(() => new Set()) }
  const on = <A>(subject: string, codec: MessageCodec<A>, act: (value: A) => void) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        connection.subscribe(subject, {
          callback: (_error, { data }) => act(Result.getOrThrow(codec.decode({ data, header: () => undefined })))
        })
      ),
      (subscription) => Effect.sync(() => subscription.unsubscribe())
    )
  for (const lane of lanes) {
    yield* on(subjects.deliveries(lane).roster, rosterCodec, ({ endpoints }) => {
      seen.rosters[lane] = new Set(Object.keys(endpoints))
    })
    yield* on(subjects.deliveries(lane).cursor, fanOutRecordCodec, ({ cursor }) => {
      seen.cursors[lane] = cursor
      onCursor(seen)
    })
  }
  yield* Effect.promise(() => connection.flush())
})

interface Seen {
  readonly cursors: Array<FanOutCursor | undefined>
  readonly rosters: Array<ReadonlySet<string>>
}

const isSettledAt = (count: number) =>
  Effect.map(readFanOutCursor(0), (cursor) =>
    Option.exists(cursor, (first) => first.lanes === count && first.lanesBefore === undefined)
  )

describe("an endpoint that moves to another lane", () => {
  it.live("is taken by whoever reads the cursors, at any moment, to be in a lane that has it", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = names.map((Name) => ({ Name, Url: receiver.url(`/${Name}`) }))
      const wrong = new Set<string>()
      const isMoving = { now: false }
      const look = ({ cursors, rosters }: Seen) => {
        if (!isMoving.now || cursors[0] === undefined) return
        const { lanes: count = 1, lanesBefore: before } = cursors[0]
        for (const id of ids) {
          const home = homeOf({ count, before, cursors }, id)
          if (!rosters[home]?.has(id)) wrong.add(`${id} is not in lane ${home}: ${JSON.stringify(cursors)}`)
        }
      }
      yield* Effect.gen(function* () {
        yield* watchLanes(look)
        for (const [from, to] of [
          [2, 4],
          [4, 2]
        ] as const) {
          const settle = (count: number) =>
            whileDispatching(
              server,
              { endpoints, delivery: { Lanes: count } },
              Effect.gen(function* () {
                yield* publish("work_item.merged")
                yield* eventually(isSettledAt(count))
              })
            )
          yield* settle(from)
          isMoving.now = true
          yield* settle(to)
          assert.deepStrictEqual([...wrong], [])
        }
        assert.isTrue(ids.some((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 2))
        for (const name of names) yield* arrived(receiver, `/${name}`, 4)
      }).pipe(Effect.provide(busOn(server, topologyOf(4))))
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { BusUnavailable, Requests } from "#bus"
import { type AskedDelivery, type AskedDeliveryAnswer, type Delivery, endpointIdOf } from "#webhooks/contract"
import { subjects } from "#base"
import { deliveryHeaders } from "#webhooks"
import { countAbandoned, lastAbandoned, redrive } from "../../../libs/webhooks/redrive.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { recorder } from "../../support/recorder.ts"

const ids = { a: endpointIdOf("a"), b: endpointIdOf("b") }
const events = ["queue.paused", "iteration.started", "work_item.merged"]

/** Six abandoned deliveries, of two endpoints in turn and three events, and one that cannot be read between them. */
const world = (answers: (sequence: number) => AskedDeliveryAnswer["_tag"] = () => "Stored") => {
  const stream = memoryStream(recorder())
  const put = (index: number) => {
    const endpointId = index % 2 === 0 ? ids.a : ids.b
    const delivery = { deliveryId: crypto.randomUUID(), endpointId, event: events[index % 3] ?? "" }
    const whole = { ...delivery, schemaVersion: "1.2.0", sequence: 7, attempt: 3, storedAt: 0, dueAt: 0 } as Delivery
    stream.store(subjects.abandoned(endpointId), new Uint8Array(0), { headers: deliveryHeaders(whole) })
  }
  for (const index of [0, 1, 2]) put(index)
  stream.store(subjects.abandoned(ids.a), new Uint8Array(0))
  for (const index of [3, 4, 5]) put(index)
  const asked: Array<number> = []
  const ask = (_: unknown, question: AskedDelivery) => {
    const sequence = question._tag === "Redrive" ? question.sequence : 0
    asked.push(sequence)
    return Effect.succeed({ _tag: answers(sequence), deliveryId: "", detail: "the broker is away", why: "" })
  }
  const layer = Layer.merge(stream.layer, Layer.succeed(Requests, { ask } as never))
  return { layer, asked, left: () => stream.messages.map(({ sequence }) => sequence) }
}

const all = { events: [], countMax: 100 }

describe("a redrive", () => {
  it.effect.each([
    ["all", {}, [1, 2, 3, 5, 6, 7]],
    ["those of an endpoint", { endpoint: "a" }, [1, 3, 6]],
    ["those of some endpoints that are there", { endpointIds: new Set([ids.b]) }, [2, 5, 7]],
    ["those of none", { endpointIds: new Set<string>() }, []],
    ["those of an event", { events: ["queue.paused"] }, [1, 5]],
    ["those of some events", { events: ["queue.paused", "work_item.*"] }, [1, 3, 5, 7]],
    ["those since a time", { sinceMs: 3 }, [3, 5, 6, 7]],
    ["those until a time", { untilMs: 3 }, [1, 2, 3]],
    ["those up to a place", { through: 5 }, [1, 2, 3, 5]],
    ["the first of them", { countMax: 2 }, [1, 2]]
  ] as const)("sends %s again, each once, and counts the same before", ([, query, sequences]) => {
    const { layer, asked, left } = world()
    return Effect.gen(function* () {
      assert.strictEqual(yield* countAbandoned({ ...all, ...query }), sequences.length)
      assert.strictEqual(yield* lastAbandoned({ ...all, ...query }), sequences.at(-1) ?? 0)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual(yield* redrive({ ...all, ...query }), sequences.length)
      assert.sameMembers(asked, [...sequences])
      assert.isTrue(left().every((sequence) => !(sequences as ReadonlyArray<number>).includes(sequence)))
      assert.strictEqual(left().length, 7 - sequences.length)
      assert.strictEqual(yield* redrive({ ...all, ...query, countMax: 0 }), 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves what is not stored again where it is, and ends where no dispatcher can store", () => {
    const { layer, left } = world((sequence) => (sequence === 2 ? "NotKept" : "Stored"))
    const away = world(() => "Unavailable")
    return Effect.gen(function* () {
      assert.strictEqual(yield* Effect.provide(redrive(all), layer), 5)
      assert.deepStrictEqual(left(), [2, 4])
      const error = yield* Effect.flip(Effect.provide(redrive(all), away.layer))
      assert.isTrue(error instanceof BusUnavailable)
      assert.lengthOf(away.left(), 7)
    })
  })
})

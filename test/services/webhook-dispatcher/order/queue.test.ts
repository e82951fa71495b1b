import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { chanceOf } from "../../../../load-tests/seeded.ts"
import { heldMax, type Keyed, orderedQueue, type Turn } from "../../../../services/webhook-dispatcher/order/queue.ts"

const keyed = (key: string, sequence: number, attempt = 1): Keyed => ({ key, sequence, attempt })
const small = { size: 1, mayHold: true }
const settled = Effect.gen(function* () {
  for (let turn = 0; turn < 4; turn += 1) yield* Effect.yieldNow
})

/** What became of a delivery so far. */
const arrive = Effect.fnUntraced(function* (queue: ReturnType<typeof orderedQueue>, one: Keyed, at = small) {
  const fiber = yield* Effect.forkChild(queue.inHand(one, queue.turn(one, at)))
  yield* settled
  return {
    turn: (): Turn["_tag"] | "Held" => {
      const exit = fiber.pollUnsafe()
      return exit?._tag === "Success" ? exit.value._tag : "Held"
    },
    stop: Fiber.interrupt(fiber)
  }
})

describe("a delivery of an ordered endpoint", () => {
  it.effect("goes when no earlier one of its key is outstanding; other keys do not wait", () =>
    Effect.gen(function* () {
      const queue = orderedQueue(() => 0)
      const first = yield* arrive(queue, keyed("a", 1))
      const third = yield* arrive(queue, keyed("a", 3))
      const second = yield* arrive(queue, keyed("a", 2))
      const other = yield* arrive(queue, keyed("b", 4))
      assert.deepStrictEqual(
        [first, second, third, other].map((one) => one.turn()),
        ["Go", "Held", "Held", "Go"]
      )
      assert.strictEqual(queue.waiting(), 2)
      queue.end(keyed("a", 1))
      yield* settled
      assert.deepStrictEqual(
        [second, third].map((one) => one.turn()),
        ["Go", "Held"]
      )
      queue.end(keyed("a", 2))
      yield* settled
      assert.strictEqual(third.turn(), "Go")
    })
  )

  it.effect("waits for one that waits for its retry, also where that is only known from the broker", () =>
    Effect.gen(function* () {
      const queue = orderedQueue(() => 0)
      queue.known(keyed("a", 1, 2), 60_000)
      const second = yield* arrive(queue, keyed("a", 2))
      assert.strictEqual(second.turn(), "Held")
      assert.strictEqual((yield* arrive(queue, keyed("a", 1, 2))).turn(), "Go")
      queue.end(keyed("a", 1))
      yield* settled
      assert.strictEqual(second.turn(), "Go")
    })
  )

  it.effect("is put off beyond the bounds, the later event first, and not before what it waits for comes", () =>
    Effect.gen(function* () {
      const queue = orderedQueue(() => 0)
      queue.known(keyed("a", 0, 2), 60_000)
      const held = yield* Effect.forEach(
        Array.from({ length: heldMax }, (_, at) => keyed("a", at + 2)),
        (one) => arrive(queue, one)
      )
      const kept = held.filter((one) => one.turn() === "Held").length
      assert.strictEqual(kept, heldMax / 2)
      assert.isTrue(held.slice(0, kept).every((one) => one.turn() === "Held"))
      const earlier = yield* arrive(queue, keyed("a", 1))
      assert.strictEqual(earlier.turn(), "Held")
      assert.strictEqual(held[kept - 1]?.turn(), "PutOff")
      assert.deepStrictEqual(yield* queue.turn(keyed("a", 9_999), small), { _tag: "PutOff", untilMs: 60_000 })
      // Another key has room.
      queue.known(keyed("b", 1, 2), 60_000)
      assert.strictEqual((yield* arrive(queue, keyed("b", 2))).turn(), "Held")
    })
  )

  it.effect("is put off where its endpoint leaves the lane, and handed back where another process takes it", () =>
    Effect.gen(function* () {
      const queue = orderedQueue(() => 0)
      queue.known(keyed("a", 1, 2), 0)
      const held = yield* arrive(queue, keyed("a", 2))
      assert.strictEqual((yield* arrive(queue, keyed("a", 3), { size: 1, mayHold: false })).turn(), "PutOff")
      queue.putOffHeld()
      yield* settled
      assert.strictEqual(held.turn(), "PutOff")
      const last = yield* arrive(queue, keyed("a", 4))
      queue.close()
      yield* settled
      assert.strictEqual(last.turn(), "Back")
      assert.strictEqual((yield* arrive(queue, keyed("c", 5))).turn(), "Back")
    })
  )

  it.effect("no longer waits for one that the broker has lost", () =>
    Effect.gen(function* () {
      let nowMs = 0
      const queue = orderedQueue(() => nowMs)
      queue.known(keyed("a", 1, 2), 1_000)
      queue.known(keyed("a", 2), 1_000)
      const third = yield* arrive(queue, keyed("a", 3))
      assert.isFalse(queue.isOverdue())
      nowMs = 20_000
      assert.isTrue(queue.isOverdue())
      assert.strictEqual(yield* queue.compare(Effect.succeed(new Set([2, 3]))), 1)
      assert.strictEqual(third.turn(), "Held")
      assert.strictEqual(yield* queue.compare(Effect.succeed(new Set<number>())), 1)
      yield* settled
      assert.strictEqual(third.turn(), "Go")
    })
  )

  for (let seed = 1; seed <= 40; seed += 1) {
    it.effect(`never goes before an earlier one of its key has ended, whatever fails and comes again: ${seed}`, () =>
      Effect.gen(function* () {
        const { next: random } = chanceOf(seed)
        const below = (count: number) => Math.floor(random() * count)
        const queue = orderedQueue(() => 0)
        const all = Array.from({ length: 300 }, (_, at) => keyed(`key ${below(8)}`, at))
        const ended = new Set<number>()
        // Fresh ones come in order, as their stream has them; what comes again comes at any time.
        const fresh = [...all]
        const due: Array<Keyed> = []
        let underWay = 0
        const handle = (one: Keyed) =>
          Effect.gen(function* () {
            const turn = yield* queue.turn(one, { size: below(2) * 1_048_576, mayHold: below(10) > 0 })
            if (turn._tag === "PutOff") return void due.push(one)
            assert.strictEqual(turn._tag, "Go")
            if (one.attempt === 1) {
              const earlier = all.find(
                ({ key, sequence }) => key === one.key && sequence < one.sequence && !ended.has(sequence)
              )
              assert.isUndefined(earlier, `${one.sequence} before ${earlier?.sequence}`)
            }
            for (let wait = below(6); wait > 0; wait -= 1) yield* Effect.yieldNow
            if (below(4) === 0) return void due.push({ ...one, attempt: one.attempt + 1 })
            ended.add(one.sequence)
            queue.end(one)
          }).pipe((work) => queue.inHand(one, work), Effect.ensuring(Effect.sync(() => (underWay -= 1))))
        const fibers: Array<Fiber.Fiber<void>> = []
        while (ended.size < all.length) {
          const next = due.length > 0 && below(3) === 0 ? due.splice(below(due.length), 1)[0] : fresh.shift()
          if (next !== undefined) {
            underWay += 1
            fibers.push(yield* Effect.forkChild(handle(next)))
          }
          yield* Effect.yieldNow
          if (next === undefined && underWay === 0 && due.length === 0) break
        }
        yield* Effect.forEach(fibers, Fiber.join, { discard: true })
        assert.strictEqual(ended.size, all.length)
      })
    )
  }
})

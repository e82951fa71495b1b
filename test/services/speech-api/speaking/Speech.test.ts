import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import {
  heldBackUntil,
  makeRecent,
  playerClock,
  quantileOf,
  recentMs
} from "../../../../services/speech-api/speaking/Speech.ts"

describe("bytes that are held back", () => {
  const pieces = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3), Uint8Array.of(4)]
  const textOf = (bytes: Uint8Array) => bytes.join("")
  // Each piece is taken from the source on its own, and is enough with those before it from the given number on.
  const heldUntil = (enough: number, source: ReadonlyArray<Uint8Array>) => {
    let taken = 0
    const counted = Stream.fromIterable(source, { chunkSize: 1 }).pipe(
      Stream.tap(() => Effect.sync(() => void taken++))
    )
    return heldBackUntil(() => taken >= enough)(counted)
  }

  it.effect.each([
    { enough: 0, come: ["1", "2", "3", "4"] },
    { enough: 3, come: ["123", "4"] },
    { enough: 4, come: ["1234"] },
    { enough: 9, come: ["1234"] }
  ])("leave together when there are enough, or all: $enough of 4", ({ enough, come }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* Stream.runCollect(heldUntil(enough, pieces))).map(textOf), come)
    })
  )

  it.effect("end with a source that has none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Stream.runCollect(heldUntil(1, [])), [])
    })
  )

  it.effect("never leave when the source fails before", () =>
    Effect.gen(function* () {
      const failing = Stream.concat(Stream.fromIterable(pieces), Stream.fail("broken"))
      const seen: Array<string> = []
      const noted = Stream.tap(heldBackUntil(() => false)(failing), (one) =>
        Effect.sync(() => void seen.push(textOf(one)))
      )
      assert.deepStrictEqual(yield* Effect.exit(Stream.runDrain(noted)), Exit.fail("broken"))
      assert.deepStrictEqual(seen, [])
    })
  )
})

describe("the player's clock", () => {
  it("is never dry while audio comes ahead of it", () => {
    const player = playerClock()
    assert.isFalse(player.fed(1, 0, 500))
    player.started(0)
    for (let second = 1; second < 10; second++) assert.isFalse(player.fed(1, second * 900, 300))
  })

  it("is dry when it had to wait past the end of its audio, once each time", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isTrue(player.fed(1, 1_500, 400))
    assert.isFalse(player.fed(1, 2_400, 400))
    assert.isTrue(player.fed(1, 4_000, 400))
  })

  it("ignores a gap of a frame", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isFalse(player.fed(1, 1_039, 1_000))
  })

  it("does not count the time of a slow reader against us", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isFalse(player.fed(1, 5_000, 2))
    assert.isFalse(player.fed(1, 5_900, 2))
    assert.isTrue(player.fed(1, 8_000, 500))
  })

  it("does not play before it has begun, and begins once", () => {
    const player = playerClock()
    assert.isFalse(player.fed(0.1, 60_000, 60_000))
    player.started(60_000)
    player.started(90_000)
    assert.isTrue(player.fed(1, 60_200, 100))
  })
})

describe("what was observed lately", () => {
  it("forgets what is older than five minutes", () => {
    const recent = makeRecent()
    recent.note(0, 1)
    recent.note(recentMs, 2)
    assert.deepStrictEqual(recent.values(recentMs), [1, 2])
    assert.deepStrictEqual(recent.values(recentMs + 1), [2])
  })

  it("keeps no more than the newest 1,024", () => {
    const recent = makeRecent()
    for (let index = 0; index < 10_000; index += 1) recent.note(0, index)
    const values = recent.values(0)
    assert.deepStrictEqual([values.length, values[0], values.at(-1)], [1_024, 8_976, 9_999])
  })

  it.each([
    [[], 0.5, null],
    [[7], 0.95, 7],
    [[4, 1, 3, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95]
  ] as const)("has of %j at %d the value %j", (values, part, wanted) => {
    assert.strictEqual(quantileOf(values, part), wanted)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { heldBackUntil } from "../../../../services/speech-api/speaking/Speech.ts"

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

import { assert, describe, it } from "@effect/vitest"
import { tmpdir } from "node:os"
import { Effect, Layer } from "effect"
import { Health, Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkDisk, isLow } from "../../../../services/fleet/nats-server/disk.ts"

const mib = 1_024 ** 2

describe("the disk of a store", () => {
  it.each([
    ["with a gibibyte free", 1_024 * mib, 500_000 * mib, false],
    ["with less", 1_023 * mib, 500_000 * mib, true],
    ["that is small, with a twentieth free", 100 * mib, 2_000 * mib, false],
    ["that is small, with less", 99 * mib, 2_000 * mib, true],
    ["that is full", 0, 500_000 * mib, true]
  ])("%s, is judged", (_, freeBytes, bytes, expected) => {
    assert.strictEqual(isLow({ freeBytes, bytes }), expected)
  })

  it.live("shows what is free", () =>
    Effect.gen(function* () {
      yield* checkDisk(tmpdir())
      const free = Effect.map(
        Effect.flatMap(Metrics, ({ text }) => text),
        (text) => Number(/^broker_store_free_bytes\{.*\} (.*)$/mu.exec(text)?.[1])
      )
      yield* eventually(free, { is: (bytes) => bytes > 0 })
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Health.layer, Metrics.layerTest)))
  )
})

import { assert, describe, it } from "@effect/vitest"
import { afterDeath, noDeaths } from "#runtime"

const delaysOf = (...livedMs: ReadonlyArray<number>) => {
  let deaths = noDeaths
  return livedMs.map((lived) => (deaths = afterDeath(deaths, lived)).delayMs)
}

describe("a dead nats-server", () => {
  it("restarts at once the first time, and after every long life", () => {
    assert.deepStrictEqual(delaysOf(5), [0])
    assert.deepStrictEqual(delaysOf(60_000, 3_600_000), [0, 0])
  })

  it("restarts ever later while it keeps dying young, up to ten seconds", () => {
    assert.deepStrictEqual(delaysOf(5, 5, 5, 5), [0, 200, 400, 800])
    assert.strictEqual(delaysOf(...Array.from({ length: 5_000 }, () => 5)).at(-1), 10_000)
  })

  it("has its earlier deaths forgiven after a life of a minute", () => {
    assert.deepStrictEqual(delaysOf(5, 5, 5, 60_000, 5), [0, 200, 400, 0, 200])
  })
})

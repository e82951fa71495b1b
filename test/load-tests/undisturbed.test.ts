import { assert, describe, it } from "@effect/vitest"
import { takeFailures } from "../../load-tests/figures.ts"
import { stolenPercent } from "../../load-tests/pace.ts"
import { chosen, undisturbed } from "../../load-tests/undisturbed.ts"

const round = (result: string, stolen: number) => ({ result, stolenPercent: stolen })

describe("the rounds of a measurement", () => {
  it("are those in which the machine was quiet, in order", () => {
    const made = [round("a", 0), round("b", 30), round("c", 1.9), round("d", 2)]
    assert.deepStrictEqual(chosen(made, 3), { results: ["a", "c", "d"], made: 4, disturbed: 0 })
  })

  it("are completed by the least disturbed, which are counted", () => {
    const made = [round("a", 9), round("b", 30), round("c", 1), round("d", 3)]
    assert.deepStrictEqual(chosen(made, 3), { results: ["c", "d", "a"], made: 4, disturbed: 2 })
  })

  it("are all quiet when the kernel does not report disturbance", () => {
    const unknown = stolenPercent(undefined, undefined)
    assert.isNaN(unknown)
    assert.deepStrictEqual(chosen([round("a", unknown), round("b", unknown)], 2), {
      results: ["a", "b"],
      made: 2,
      disturbed: 0
    })
  })

  it("are as many as requested, from at most four times as many attempts", async () => {
    let count = 0
    const { results, made } = await undisturbed(3, () => Promise.resolve(++count))
    assert.strictEqual(results.length, 3)
    assert.strictEqual(made, count)
    assert.isAtMost(made, 12)
    assert.strictEqual((await undisturbed(3, () => Promise.resolve(), 2)).made, 2)
  })
})

describe("a failed round", () => {
  it("keeps the earlier measurements, and is reported", async () => {
    takeFailures()
    let count = 0
    const run = () => (count++ < 2 ? Promise.resolve(count) : Promise.reject(new Error("gone")))
    assert.deepStrictEqual((await undisturbed(5, run)).results.length, 2)
    assert.deepStrictEqual(
      takeFailures().map((error) => (error instanceof Error ? error.message : "")),
      ["gone"]
    )
    assert.deepStrictEqual(takeFailures(), [])
  })

  it("fails the measurement when it is the first: there is nothing to report", async () => {
    const failed = await undisturbed(5, () => Promise.reject(new Error("gone"))).catch((error: unknown) => error)
    assert.instanceOf(failed, Error)
    assert.deepStrictEqual(takeFailures(), [])
  })
})

describe("the stolen time", () => {
  it("is a share of the wanted time", () => {
    assert.strictEqual(stolenPercent({ worked: 100, stolen: 10 }, { worked: 190, stolen: 20 }), 10)
    assert.strictEqual(stolenPercent({ worked: 100, stolen: 10 }, { worked: 100, stolen: 10 }), 0)
  })
})

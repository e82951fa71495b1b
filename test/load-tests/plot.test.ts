import { assert, describe, it } from "@effect/vitest"
import { findingsOf, sharingFigures, type Step } from "../../load-tests/scale/drained.ts"
import { plot } from "../../load-tests/plot.ts"

const xs = (svg: string) =>
  [...(/points="([^"]*)"/u.exec(svg)?.[1] ?? "").matchAll(/(\S+),\S+/gu)].map(([, x]) => Number(x))

describe("a plot", () => {
  const lines = [{ name: "a <b>", values: [1, 2, 4] }]

  it("sets values at their positions, on a logarithmic axis in equal steps for equal factors", () => {
    const values = [1, 10, 100]
    const straight = xs(plot({ title: "t", unit: "s", x: { unit: "n", values }, lines }))
    const logarithmic = xs(plot({ title: "t", unit: "s", x: { unit: "n", values, isLogarithmic: true }, lines }))
    assert.isBelow((straight[1] ?? 0) - (straight[0] ?? 0), 65)
    assert.closeTo((logarithmic[1] ?? 0) - (logarithmic[0] ?? 0), (logarithmic[2] ?? 0) - (logarithmic[1] ?? 0), 0.001)
  })

  it("accepts names as text", () => {
    const svg = plot({ title: "<script>", unit: "s", lines })
    assert.include(svg, "a &lt;b>")
    assert.notInclude(svg, "<script>")
  })

  it("leaves out values that are not numbers", () => {
    const svg = plot({ title: "t", unit: "s", lines: [{ name: "a", values: [1, Number.NaN, 3] }] })
    assert.strictEqual(xs(svg).length, 2)
    assert.notInclude(svg, "NaN")
  })
})

describe("the verdict on scaling", () => {
  const step = (size: number, cpuPerThousand: number, changes: Partial<Step> = {}): Step => ({
    size,
    cpuPerThousand,
    perSecond: 1,
    brokerCpuPerThousand: 0.1,
    rssMb: 1,
    startMs: 1,
    lost: 0,
    twice: 0,
    conflicts: 0,
    readTimes: 1,
    perPull: 8,
    load: 1,
    ...changes
  })
  const missed = (steps: ReadonlyArray<Step>, heldUpTo?: number) =>
    findingsOf("things", steps, heldUpTo)
      .figures.filter(({ met }) => met === false)
      .map(({ name }) => name)

  it("is good when the last delivery costs about what the first does", () => {
    assert.deepStrictEqual(missed([step(1, 0.3), step(10, 0.4)]), [])
  })

  it("is bad when it costs half as much again, except for steps that are only shown", () => {
    const steps = [step(1, 0.3), step(10, 0.4), step(100, 0.9)]
    assert.deepStrictEqual(missed(steps), ["cost of a delivery, the last over the first"])
    assert.deepStrictEqual(missed(steps, 10), [])
  })

  it("is bad when anything is lost or comes twice", () => {
    assert.deepStrictEqual(missed([step(1, 0.3, { lost: 1 }), step(2, 0.3, { twice: 2 })]), ["lost", "came twice"])
  })

  it("compares processes on one broker with as many that share nothing, step by step", () => {
    const figures = sharingFigures("things", [step(1, 0.3), step(4, 1.1)], [step(1, 0.3), step(4, 0.6), step(8, 9)])
    const told = figures.map(({ scenario, value, met }) => [scenario, Number(value.toFixed(2)), met])
    assert.deepStrictEqual(told, [
      ["1 things", 1, undefined],
      ["1 things", 1, true],
      ["4 things", 1.75, undefined],
      ["4 things", 1.71, false]
    ])
  })
})

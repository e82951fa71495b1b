import { assert, describe, it } from "@effect/vitest"
import { readOptions } from "../../load-tests/options.ts"

describe("the options of a load test", () => {
  it("have defaults, and record which were given", () => {
    const { names, options, given } = readOptions(["soak", "--minutes", "2.5", "--rate", "50"], "/results")
    assert.deepStrictEqual(names, ["soak"])
    assert.deepStrictEqual(given, ["minutes", "rate"])
    assert.deepStrictEqual(options, {
      minutes: 2.5,
      rate: 50,
      seed: 1,
      sizes: undefined,
      apart: false,
      times: 1,
      busy: false,
      out: "/results"
    })
  })

  it("accept sizes as people write them", () => {
    const { options } = readOptions(["scale", "backlog", "--sizes", "0,10_000,1000000"], "/results")
    assert.deepStrictEqual(options.sizes, [0, 10_000, 1_000_000])
  })

  it.each([
    [["--minutes", "0"], /--minutes 0\?/u],
    [["--minutes", "soon"], /--minutes soon\?/u],
    [["--minutes", "100000"], /at most 1440/u],
    [["--rate=-1"], /--rate -1\?/u],
    [["--seed", "1.5"], /--seed 1.5\?/u],
    [["--sizes", "1,x"], /--sizes 1,x\?/u],
    [["--sizes", "99999999"], /none above/u],
    [["--unheard"], /--unheard/u]
  ])("%s are refused in words", (parameters, words) => {
    assert.throws(() => readOptions(parameters, "/results"), words)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { diceOf } from "../../../support/random-ssml.ts"
import { projectWith, stale } from "./project-at-work.ts"

describe("a pull request whose base has moved", () => {
  it.prop(
    "is never reported twice within one run of the process",
    [Schema.Int],
    ([seed]) => {
      const { below, of } = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
      const garden = projectWith()
      const told = new Set<string>()
      for (let step = 0; step < 60; step++) {
        const command = stale(below(5), of(["aaa", "bbb", "ccc"]))
        const key = `${command.pullRequestNumber} ${command.headSha}`
        assert.strictEqual(garden.does(command).length, told.has(key) ? 0 : 1)
        told.add(key)
      }
    },
    { arbitrary: { runs: 10 } }
  )
})

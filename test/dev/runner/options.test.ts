import { assert, describe, it } from "@effect/vitest"
import { BadOptions, readOptions } from "../../../dev/runner/options.ts"

const read = (...parameters: ReadonlyArray<string>) => readOptions(parameters, "/home/of/it")

describe("the runner's command line", () => {
  it("takes all phases of one agent, four at once, with the example agent, when nothing is said", () => {
    const { options, nats } = read()
    assert.isUndefined(nats)
    assert.deepStrictEqual(options.agents, ["coder"])
    assert.strictEqual(options.atOnce, 4)
    assert.strictEqual(options.phases.length, 7)
    assert.strictEqual(options.folder, "/home/of/it/runner")
    assert.include(options.work, "example-agent.sh")
    assert.isUndefined(options.forge)
  })

  it("takes what is said", () => {
    const { options, nats } = read(
      "--agent",
      "a",
      "--agent",
      "b",
      "--phase",
      "merge",
      "--at-once",
      "9",
      "--audit",
      "make check",
      "--nats",
      "nats://127.0.0.1:4222",
      "--instance",
      "i",
      "--model",
      "m",
      "--name",
      "n",
      "--wait",
      "0"
    )
    assert.strictEqual(nats, "nats://127.0.0.1:4222")
    assert.deepInclude(options, {
      agents: ["a", "b"],
      phases: ["merge"],
      atOnce: 9,
      audit: "make check",
      agentInstanceId: "i",
      model: "m",
      name: "n",
      waitMs: 0
    })
  })

  it.each([
    [["--at-once", "0"], "--at-once is a whole number from 1 to 256"],
    [["--at-once", "many"], "--at-once is a whole number from 1 to 256"],
    [["--wait", "30001"], "--wait is a whole number from 0 to 30000"],
    [["--phase", "lunch"], "--phase is one of work, rework"],
    [["--speed", "9"], "usage: ./starling runner"]
  ])("refuses %j in words", (parameters, words) => {
    try {
      read(...parameters)
      assert.fail("it was taken")
    } catch (error) {
      assert.instanceOf(error, BadOptions)
      assert.include((error as BadOptions).message, words)
    }
  })
})

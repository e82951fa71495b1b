import { assert, describe, it } from "@effect/vitest"
import { type RunnerFlags, runnerOptions } from "../../../dev/runner/options.ts"

const nothing: RunnerFlags = {
  agent: [],
  instance: undefined,
  model: undefined,
  phase: [],
  atOnce: 4,
  name: undefined,
  folder: undefined,
  work: undefined,
  audit: undefined,
  resolve: undefined,
  verify: undefined,
  forge: undefined,
  watchForge: 0,
  wait: 10_000,
  nats: undefined
}
const options = (said: Partial<RunnerFlags> = {}) => runnerOptions({ ...nothing, ...said }, "/home/of/it")

describe("a runner's options", () => {
  it("default to all phases of one agent, with the example agent", () => {
    const { agents, atOnce, phases, folder, work, forge } = options()
    assert.deepStrictEqual(agents, ["coder"])
    assert.strictEqual(atOnce, 4)
    assert.strictEqual(phases.length, 7)
    assert.strictEqual(folder, "/home/of/it/runner")
    assert.include(work, "example-agent.sh")
    assert.isUndefined(forge)
  })

  it("are taken as given", () => {
    const said = options({
      agent: ["a", "b"],
      phase: ["merge"],
      atOnce: 9,
      audit: "make check",
      instance: "i",
      model: "m",
      name: "n",
      wait: 0
    })
    assert.deepInclude(said, {
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
})

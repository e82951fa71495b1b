import { assert, describe, it } from "@effect/vitest"
import { staleBasesMax } from "#pipeline/contract"
import { wireItem } from "../wire-item.ts"
import { projectId, projectWith, stale } from "./project-at-work.ts"

const event = "upstream.pr_stale_base"

describe("a pull request whose base has moved", () => {
  it("is reported with its project, and with its item when that is known", () => {
    const garden = projectWith()
    assert.deepStrictEqual(garden.does(stale(7, "abc1234")), [event])
    assert.deepStrictEqual(garden.last(event).details, {
      projectId,
      pullRequestNumber: 7,
      pullRequestUrl: "https://git.example/garden/pulls/7",
      headBranch: "starling/00000000",
      headSha: "abc1234",
      baseBranch: "main",
      firstDetectedAt: "2023-11-14T22:13:20.000Z"
    })
    assert.isNull(garden.last(event).workItem)
    assert.strictEqual(garden.last(event).project?.id, projectId)
    garden.does(stale(8, "abc1234", { workItem: wireItem }))
    assert.deepStrictEqual(garden.last(event).workItem, wireItem)
  })

  it("is reported once for each head", () => {
    const garden = projectWith()
    garden.does(stale(7, "abc1234"))
    assert.deepStrictEqual(garden.facts(stale(7, "abc1234")), [])
    assert.deepStrictEqual(garden.does(stale(7, "def5678")), [event])
    assert.deepStrictEqual(garden.facts(stale(7, "abc1234")), [], "the head of before came back")
    assert.deepStrictEqual(garden.does(stale(8, "abc1234")), [event])
  })

  it("is reported again after a restart of the watching process", () => {
    const garden = projectWith()
    garden.does(stale(7, "abc1234"))
    assert.deepStrictEqual(garden.does(stale(7, "abc1234", { epoch: "sweeper-2" })), [event])
    assert.deepStrictEqual(garden.facts(stale(7, "abc1234", { epoch: "sweeper-2" })), [])
  })

  it("is reported once by each of several processes that watch at the same time", () => {
    const garden = projectWith()
    const epochs = ["a", "b", "c"]
    for (const epoch of epochs) assert.deepStrictEqual(garden.does(stale(7, "abc1234", { epoch })), [event])
    for (let round = 0; round < 3; round++) {
      for (const epoch of epochs) assert.deepStrictEqual(garden.facts(stale(7, "abc1234", { epoch })), [], epoch)
    }
    assert.deepStrictEqual(garden.does(stale(7, "def5678", { epoch: "a" })), [event])
    assert.deepStrictEqual(garden.replayed(), garden.state())
  })

  it("is forgotten for processes that are long gone, and the state does not grow with every restart", () => {
    const garden = projectWith()
    for (let run = 1; run <= 60; run++) {
      for (const head of ["abc1234", "def5678"]) garden.does(stale(7, head, { epoch: `run ${run}` }))
    }
    assert.isBelow(JSON.stringify(garden.state().staleBases).length, 2_000)
    for (const run of [60, 59]) {
      assert.deepStrictEqual(garden.facts(stale(7, "abc1234", { epoch: `run ${run}` })), [])
    }
    assert.deepStrictEqual(garden.does(stale(7, "abc1234", { epoch: "run 1" })), [event])
  })

  it("takes the room for its own record from those of other processes", () => {
    const garden = projectWith()
    const told = Array.from({ length: staleBasesMax }, (_, index) => `${index}:abc1234`)
    Object.assign(garden.state().staleBases, { epoch: "sweeper-2", told })
    garden.does(stale(9_999, "abc1234"))
    const { others = [], ...own } = garden.state().staleBases
    assert.deepStrictEqual(own, { epoch: "sweeper-1", told: ["9999:abc1234"] })
    assert.deepStrictEqual(others, [{ epoch: "sweeper-2", told: told.slice(1) }])
  })

  it("is forgotten when too many others came after it", () => {
    const garden = projectWith()
    const told = Array.from({ length: staleBasesMax }, (_, index) => `${index}:abc1234`)
    Object.assign(garden.state().staleBases, { epoch: "sweeper-1", told })
    garden.does(stale(9_999, "abc1234"))
    assert.strictEqual(garden.state().staleBases.told.length, staleBasesMax)
    assert.deepStrictEqual(garden.facts(stale(1, "abc1234")), [])
    assert.deepStrictEqual(garden.does(stale(0, "abc1234")), [event])
  })
})

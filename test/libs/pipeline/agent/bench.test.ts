import { assert, describe, it } from "@effect/vitest"
import { isoTime } from "#base"
import { startMs } from "../entity-at-work.ts"
import { wireItem, wireProject } from "../wire-item.ts"
import { agentAtWork, failed, failedFast, item, passed } from "./agent-at-work.ts"

const event = "agent.smoke_failed"

describe("an agent whose credentials fail", () => {
  it.each([
    ["auth", "Persistent"],
    ["503 of the provider", "Transient"],
    ["timeout", "Transient"],
    ["no token", "Persistent"],
    [null, "Unknown"]
  ] as const)("for the reason %s (%s) is benched, and no item is named", (reason, category) => {
    const smith = agentAtWork("smith/anvil-1")
    assert.deepStrictEqual(smith.does(failed(5, { reason, category })), [event])
    const told = smith.last(event)
    const occurredAt = isoTime(startMs + 5)
    assert.deepStrictEqual(told.details, { agentKind: "smith", reason, category, occurredAt })
    assert.deepStrictEqual([told.workItem, told.project], [null, null])
    assert.isNotNull(smith.state().bench)
  })

  it.each(["pickup", "login-prompt"] as const)("at a %s is reported with the item and its project", (cause) => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.does(failed(5, { cause, item })), [event])
    assert.deepStrictEqual([smith.last(event).workItem, smith.last(event).project], [wireItem, wireProject])
  })

  it("is reported again for every item, but by probes only when the reason or the process changes", () => {
    const smith = agentAtWork()
    smith.does(failed(1, { epoch: "e1" }))
    assert.deepStrictEqual(smith.facts(failed(2, { epoch: "e1" })), [])
    assert.deepStrictEqual(smith.facts(failed(3)), [])
    assert.deepStrictEqual(smith.does(failed(4, { item })), [event])
    assert.deepStrictEqual(smith.does(failed(5, { reason: "no token", epoch: "e1" })), [event])
    assert.deepStrictEqual(smith.does(failed(6, { reason: "no token", epoch: "e2" })), [event])
    assert.deepStrictEqual(smith.facts(failed(0, { reason: "late" })), [], "it was seen before what is known")
    assert.strictEqual(smith.state().bench?.sinceMs, startMs + 1)
  })

  it("is fit again when a later probe passes", () => {
    const smith = agentAtWork("smith/anvil-1")
    assert.deepStrictEqual(smith.facts(passed(0)), [], "it was fit")
    smith.does(failed(10))
    assert.deepStrictEqual(smith.facts(passed(9)), [], "the probe was before")
    assert.deepStrictEqual(smith.does(passed(20)), ["agent.smoke_recovered"])
    assert.deepStrictEqual(smith.last("agent.smoke_recovered").details, {
      agentKind: "smith",
      agentInstanceId: "anvil-1",
      benchedAt: isoTime(startMs + 10),
      recoveredAt: isoTime(startMs + 20),
      by: "probe",
      holds: []
    })
    assert.isNull(smith.state().bench)
  })

  it("is not benched by a failure from before its recovery, though the item that hit it is reported", () => {
    const smith = agentAtWork()
    smith.does(failed(10))
    smith.does(passed(20))
    assert.deepStrictEqual(smith.facts(failed(15)), [])
    assert.deepStrictEqual(smith.does(failed(15, { item })), [event])
    assert.isNull(smith.state().bench)
    assert.deepStrictEqual(smith.does(failed(21)), [event])
    assert.isNotNull(smith.state().bench)
  })
})

describe("the fast-fail breaker", () => {
  it("excludes an agent with too many runs that end too fast", () => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.facts(failedFast(0)), ["FailedFast"])
    assert.deepStrictEqual(smith.does(failedFast(10)), [])
    assert.deepStrictEqual(smith.does(failedFast(20)), [event])
    assert.deepStrictEqual(smith.last(event).details, {
      agentKind: "smith",
      reason: "3 runs ended too fast within 60000 ms",
      category: "Unknown",
      occurredAt: isoTime(startMs + 20)
    })
    assert.strictEqual(smith.state().bench?.cause, "fast-fail")
    assert.deepStrictEqual(smith.facts(failedFast(30)), [], "it is benched")
  })

  it("names the item of the last run, if any", () => {
    const smith = agentAtWork()
    smith.does(failedFast(0, { failuresMax: 1, item, reason: "exit code 1 at once" }))
    assert.deepStrictEqual(smith.last(event).workItem, wireItem)
    assert.strictEqual(smith.last(event).details?.["reason"], "exit code 1 at once")
  })

  it("counts only runs within its window", () => {
    const smith = agentAtWork()
    for (const atMs of [0, 50_000, 100_000, 150_000, 200_000]) {
      assert.deepStrictEqual(smith.does(failedFast(atMs)), [])
    }
    assert.deepStrictEqual(smith.does(failedFast(205_000)), [event])
  })

  it("drops runs as old as its window", () => {
    const smith = agentAtWork()
    for (const atMs of [0, 30_000, 60_000]) assert.deepStrictEqual(smith.does(failedFast(atMs)), [])
    assert.deepStrictEqual(smith.does(failedFast(89_999)), [event])
  })

  it("starts counting again when the agent is fit again", () => {
    const smith = agentAtWork()
    for (const atMs of [0, 1, 2]) smith.does(failedFast(atMs))
    smith.does(passed(10))
    assert.deepStrictEqual(smith.facts(failedFast(9)), [], "it was before")
    assert.deepStrictEqual(smith.does(failedFast(11)), [])
    assert.deepStrictEqual(smith.does(failedFast(12)), [])
    assert.deepStrictEqual(smith.does(failedFast(13)), [event])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { isoTime } from "#base"
import { startMs } from "../entity-at-work.ts"
import { agentAtWork, failed, passed, restore } from "./agent-at-work.ts"

const swept = "agent.restore_requeue_swept"
const sweep = (outageStartedAtMs: number | null, restoredAtMs: number) =>
  ({ _tag: "CompleteRestoreSweep", outageStartedAtMs, restoredAtMs, requeued: 3, skipped: 2 }) as const

describe("a recovered agent", () => {
  it("asks for a review of its items from the outage", () => {
    const smith = agentAtWork()
    smith.does(failed(10))
    assert.deepStrictEqual(smith.facts(passed(50)), ["SmokeRecovered", "Restored"])
    assert.deepStrictEqual(smith.state().restore, { outageStartedAtMs: startMs + 10, restoredAtMs: startMs + 50 })
  })

  it("by an operator's command is fit again, and its outage began when it was benched", () => {
    const smith = agentAtWork()
    smith.does(failed(1))
    assert.deepStrictEqual(smith.does(restore()), ["agent.smoke_recovered"])
    assert.strictEqual(smith.last("agent.smoke_recovered").details?.["by"], "operator")
    assert.deepStrictEqual(smith.state().restore, { outageStartedAtMs: startMs + 1, restoredAtMs: smith.nowMs() })
  })

  it("from an outage with an unknown beginning has nothing to retry", () => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.facts(restore()), ["Restored"])
    assert.isNull(smith.state().restore?.outageStartedAtMs)
    assert.deepStrictEqual(smith.does(sweep(null, smith.state().restore?.restoredAtMs ?? 0)), [swept])
    assert.isNull(smith.last(swept).details?.["outageStartedAt"])
  })

  it("uses the outage's beginning that the operator names", () => {
    const smith = agentAtWork()
    smith.does(restore(startMs - 5_000))
    assert.strictEqual(smith.state().restore?.outageStartedAtMs, startMs - 5_000)
    assert.match(smith.refuses(restore(startMs + 1_000_000)), /has not begun yet/u)
  })

  it("reports once how many of its items were queued again", () => {
    const smith = agentAtWork("smith/anvil-1")
    smith.does(failed(10))
    smith.does(passed(50))
    assert.deepStrictEqual(smith.does(sweep(startMs + 10, startMs + 50)), [swept])
    assert.deepStrictEqual(smith.last(swept).details, {
      reason: "agent_restore",
      restoredAgent: "smith",
      outageStartedAt: isoTime(startMs + 10),
      restoredAt: isoTime(startMs + 50),
      requeued: 3,
      skipped: 2
    })
    assert.isNull(smith.state().restore)
    assert.deepStrictEqual(smith.facts(sweep(startMs + 10, startMs + 50)), [])
  })

  it("that fails and recovers again before the review reports both outages", () => {
    const smith = agentAtWork()
    for (const command of [failed(10), passed(50), failed(60), passed(90)]) smith.does(command)
    assert.deepStrictEqual(smith.does(sweep(startMs + 10, startMs + 50)), [swept])
    assert.strictEqual(smith.state().restore?.restoredAtMs, startMs + 90)
    assert.deepStrictEqual(smith.does(sweep(startMs + 60, startMs + 90)), [swept])
    assert.isNull(smith.state().restore)
  })
})

describe("a session of an agent", () => {
  it.each(["suspend", "close"] as const)("that cannot %s is reported", (operation) => {
    const smith = agentAtWork()
    const failure = { workItemId: "w1", sessionId: "s1", error: "the machine is gone" }
    const event = `agent.provider_session_${operation}_failed`
    assert.deepStrictEqual(smith.does({ _tag: "FailSession", operation, ...failure }), [event])
    assert.deepStrictEqual(smith.last(event).details, failure)
    assert.isNull(smith.last(event).workItem)
  })
})

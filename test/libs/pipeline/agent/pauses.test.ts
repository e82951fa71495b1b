import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { entityProjection } from "#actors"
import { agentIdOf, agentOfId, AgentSummary } from "#pipeline/contract"
import { isoTime } from "#base"
import { agentHold, agentHolds, agentProjection } from "#pipeline"
import { startMs } from "../entity-at-work.ts"
import { agentAtWork, failed, failedFast, pause, resume } from "./agent-at-work.ts"

describe("an agent", () => {
  it.each([
    ["smith", "smith", null],
    ["smith/anvil-1", "smith", "anvil-1"]
  ])("%s is paused as %s, instance %s", (id, kind, agentInstanceId) => {
    const smith = agentAtWork(id)
    assert.deepStrictEqual(smith.does(pause()), ["agent.paused"])
    const told = smith.last("agent.paused")
    assert.deepStrictEqual(told.details, {
      agent: kind,
      agentInstanceId,
      reason: "the forge is hot",
      pausedAt: isoTime(smith.nowMs()),
      pausedBy: "ann",
      expiresAt: null
    })
    assert.deepStrictEqual([told.workItem, told.project], [null, null])
    assert.strictEqual(agentIdOf(kind, agentInstanceId), id)
    assert.deepStrictEqual(agentOfId(id), { agentKind: kind, agentInstanceId })
  })

  it("is resumed by hand", () => {
    const smith = agentAtWork()
    assert.deepStrictEqual(smith.facts(resume), [], "it was not paused")
    smith.does(pause())
    assert.deepStrictEqual(smith.does(resume), ["agent.resumed"])
    assert.deepStrictEqual(smith.last("agent.resumed").details, {
      agent: "smith",
      agentInstanceId: null,
      resumedAt: isoTime(smith.nowMs()),
      resumedBy: "ben",
      reason: null,
      holds: []
    })
  })

  it("that is benched and out of quota has both holds reported separately when its pause ends", () => {
    const smith = agentAtWork()
    smith.does(pause())
    const paused = { cause: "manual", reason: "the forge is hot", pausedBy: "ann", until: null } as const
    const pausedHold = { ...paused, since: isoTime(smith.nowMs()) }
    assert.deepStrictEqual(smith.does(failed(2)), ["agent.smoke_failed"], "a pause hides no failure")
    smith.does({ _tag: "HitQuota", occurredAtMs: startMs + 3, resetAtMs: startMs + 60_000 })
    const benchHold = {
      cause: "bench",
      reason: "auth",
      pausedBy: null,
      since: isoTime(startMs + 2),
      until: null
    } as const
    const quotaHold = {
      cause: "quota",
      reason: "its quota is used up",
      pausedBy: null,
      since: isoTime(startMs + 3),
      until: isoTime(startMs + 60_000)
    } as const
    assert.deepStrictEqual(agentHolds(smith.state(), smith.nowMs()), [pausedHold, benchHold, quotaHold])
    smith.does(resume)
    assert.deepStrictEqual(smith.last("agent.resumed").details?.["holds"], [benchHold, quotaHold])
    smith.does({ _tag: "PassSmoke", occurredAtMs: startMs + 10 })
    assert.deepStrictEqual(smith.last("agent.smoke_recovered").details?.["holds"], [quotaHold])
    assert.deepStrictEqual(agentHolds(smith.state(), startMs + 60_000), [])
  })

  it("resumes when its pause's time is over, and not before", () => {
    const smith = agentAtWork()
    smith.does(pause(startMs + 10_000))
    assert.strictEqual(smith.last("agent.paused").details?.["expiresAt"], isoTime(startMs + 10_000))
    assert.deepStrictEqual(smith.facts({ _tag: "ExpirePause" }), [])
    assert.strictEqual(agentHold(smith.state(), startMs + 9_999), "Paused")
    assert.isUndefined(agentHold(smith.state(), startMs + 10_000))
    smith.passes(10_000)
    assert.deepStrictEqual(smith.does({ _tag: "ExpirePause" }), ["agent.resumed"])
    assert.deepInclude(smith.last("agent.resumed").details ?? {}, {
      resumedBy: "expiry",
      reason: "the time of the pause is over"
    })
    assert.deepStrictEqual(smith.facts({ _tag: "ExpirePause" }), [])
  })

  it("that is paused without end does not resume by itself", () => {
    const smith = agentAtWork()
    smith.does(pause())
    smith.passes(1_000_000_000)
    assert.deepStrictEqual(smith.facts({ _tag: "ExpirePause" }), [])
  })

  it("is not paused twice alike, but a pause of another length replaces the first", () => {
    const smith = agentAtWork()
    smith.does(pause())
    assert.deepStrictEqual(smith.facts(pause()), [])
    assert.deepStrictEqual(smith.does(pause(startMs + 50_000)), ["agent.paused"])
    assert.strictEqual(smith.state().pause?.expiresAtMs, startMs + 50_000)
  })

  it("whose pause has run out when it is paused again was resumed in between", () => {
    const smith = agentAtWork()
    smith.does(pause(startMs + 10))
    smith.passes(100)
    assert.deepStrictEqual(smith.does(pause()), ["agent.resumed", "agent.paused"])
  })

  it("cannot be paused until a past time", () => {
    assert.match(agentAtWork().refuses(pause(startMs)), /over before it began \(Available\)/u)
  })

  it("that is paused, benched and out of quota has all three holds", () => {
    const smith = agentAtWork()
    smith.does({ _tag: "HitQuota", occurredAtMs: startMs, resetAtMs: null })
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "QuotaExhausted")
    smith.does(failed(1))
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "Benched")
    smith.does(pause())
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "Paused")
    smith.does(resume)
    assert.strictEqual(agentHold(smith.state(), smith.nowMs()), "Benched")
    assert.isUndefined(agentHold(null, smith.nowMs()))
  })
})

describe("the view of an agent", () => {
  it("shows its holds from new work, and when a person has to act", () => {
    const show = (state: unknown) => Result.getOrThrow(entityProjection(agentProjection).show(state, "smith/anvil-1"))
    assert.isUndefined(show(null))
    const smith = agentAtWork("smith/anvil-1")
    smith.does(failedFast(1))
    assert.strictEqual(show(smith.state())?.state, "Available")
    smith.does(pause(startMs + 10_000))
    smith.does({ _tag: "HitQuota", occurredAtMs: startMs, resetAtMs: startMs + 20_000 })
    const { state, deadlinesMs, summary } = show(smith.state()) ?? assert.fail("it is not shown")
    assert.strictEqual(state, "Paused")
    assert.deepStrictEqual(Schema.decodeUnknownSync(AgentSummary)(summary), summary)
    assert.deepStrictEqual(deadlinesMs, { pauseExpires: startMs + 10_000, quotaResets: startMs + 20_000 })
    assert.deepInclude(summary, {
      agentKind: "smith",
      agentInstanceId: "anvil-1",
      isQuotaExhausted: true,
      fastFails: 1
    })
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type AgentCommand, type AgentFactTag, fastFailsMax } from "#contracts"
import { holdOf } from "../../../../services/pipeline-api/agent/index.ts"
import { type Dice, diceOf } from "../../../support/random-ssml.ts"
import { startMs } from "../entity-at-work.ts"
import { advice, agentAtWork, failed, failedFast, item, passed, pause, restore, resume } from "./agent-at-work.ts"

// Kept apart from the code that tells them: the spec's own table. The session's names its operation.
const eventOf: Record<AgentFactTag, string | null> = {
  Paused: "agent.paused",
  Resumed: "agent.resumed",
  SmokeFailed: "agent.smoke_failed",
  SmokeRecovered: "agent.smoke_recovered",
  Restored: null,
  RestoreSwept: "agent.restore_requeue_swept",
  FailedFast: null,
  SessionFailed: "agent.provider_session_close_failed",
  QuotaHit: null,
  QuotaReset: null,
  SpendingAdvised: "quota.reset_optimal"
}

const randomCommand = ({ below, of }: Dice, nowMs: number): AgentCommand => {
  const agoMs = nowMs - startMs - below(3_000)
  const seenMs = Math.max(0, agoMs)
  const restored = { outageStartedAtMs: of([null, startMs]), restoredAtMs: startMs + seenMs }
  return of<AgentCommand>([
    pause(of([null, nowMs + below(5_000)])),
    resume,
    { _tag: "ExpirePause" },
    failed(seenMs, { item: of([null, item]), epoch: of([null, "e1", "e2"]), reason: of(["auth", "timeout"]) }),
    failedFast(seenMs, { failuresMax: 1 + below(4), item: of([null, item]) }),
    failedFast(seenMs, { failuresMax: 50 }),
    passed(seenMs),
    restore(of([null, startMs])),
    { _tag: "CompleteRestoreSweep", ...restored, requeued: below(3), skipped: below(3) },
    { _tag: "FailSession", operation: "close", workItemId: "w1", sessionId: "s1", error: "gone" },
    { _tag: "HitQuota", occurredAtMs: startMs + seenMs, resetAtMs: of([null, nowMs + below(9_000)]) },
    { _tag: "ResetQuota", isForced: below(4) === 0 },
    advice(seenMs + below(5) * 1_000, { cooldownMs: below(4_000) })
  ])
}

const lifeOf = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
  const entity = agentAtWork()
  for (let step = 0; step < 80; step++) {
    entity.passes(dice.below(2_000))
    entity.tries(randomCommand(dice, entity.nowMs()))
  }
  return entity
}

describe("a random life of an agent", () => {
  const lives = (name: string, look: (life: ReturnType<typeof lifeOf>) => void) =>
    it.prop(name, [Schema.Int], ([seed]) => look(lifeOf(seed)), { arbitrary: { runs: 8 } })

  lives("tells by its event of every fact that has one, and of nothing else", ({ steps }) => {
    for (const { record } of steps) {
      const told = record.facts.map(({ _tag }) => eventOf[_tag]).filter((event) => event !== null)
      assert.deepStrictEqual(
        record.events.map(({ event }) => event),
        told
      )
    }
  })

  lives("is resumed only after it was paused, and fit again only after it was benched", ({ steps }) => {
    for (const { before, record } of steps) {
      const tags: ReadonlyArray<AgentFactTag> = record.facts.map(({ _tag }) => _tag)
      if (tags.includes("Resumed")) assert.isNotNull(before?.pause ?? null)
      if (tags.includes("SmokeRecovered")) assert.isNotNull(before?.bench ?? null)
      if (before?.bench != null && record.state?.bench === null) assert.include(tags, "SmokeRecovered")
      if (before?.pause != null && record.state?.pause === null) assert.include(tags, "Resumed")
      if (before?.bench == null && record.state?.bench != null) assert.include(tags, "SmokeFailed")
    }
  })

  lives("advises no window twice in a row, and none while it cools down", ({ steps }) => {
    let last = { optimalUntilMs: 0, quietUntilMs: 0 }
    for (const { record } of steps) {
      for (const fact of record.facts) {
        if (fact._tag !== "SpendingAdvised") continue
        assert.notStrictEqual(fact.optimalUntilMs, last.optimalUntilMs)
        assert.isAtLeast(record.atMs, last.quietUntilMs)
        last = fact
      }
    }
  })

  lives("tells of every restore's sweep once, in order", ({ steps }) => {
    let lastMs = -1
    for (const { record } of steps) {
      for (const fact of record.facts) {
        if (fact._tag !== "RestoreSwept") continue
        assert.isAbove(fact.restoredAtMs, lastMs)
        lastMs = fact.restoredAtMs
      }
    }
  })

  lives("takes work only when nothing holds it", ({ steps }) => {
    for (const { record } of steps) {
      const { state, atMs } = record
      if (holdOf(state, atMs) !== undefined || state === null) continue
      assert.isNull(state.bench)
      if (state.pause !== null) assert.isAtMost(state.pause.expiresAtMs ?? Infinity, atMs)
      if (state.quota !== null) assert.isAtMost(state.quota.resetAtMs ?? Infinity, atMs)
    }
  })

  lives("is the same when its facts are replayed, and stays within its bounds", (life) => {
    assert.deepStrictEqual(life.replayed(), life.state())
    for (const { record } of life.steps) assert.isAtMost(record.state?.fastFailsMs.length ?? 0, fastFailsMax)
  })
})

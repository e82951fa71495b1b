import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type AgentFactTag, fastFailsMax } from "#pipeline/contract"
import { agentHold, agentHolds } from "#pipeline"
import { diceOf } from "../../../support/random-ssml.ts"
import { agentAtWork } from "./agent-at-work.ts"
import { randomCommand } from "./random-commands.ts"

// Kept apart from the code under test: the spec's own table. The session's names its operation.
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

const lifeOf = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
  const entity = agentAtWork()
  for (let step = 0; step < 80; step++) {
    entity.passes(dice.below(2_000))
    entity.tries(randomCommand(dice, entity.nowMs()))
  }
  return entity
}

describe("a random history of an agent", () => {
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
      if (agentHold(state, atMs) !== undefined || state === null) continue
      assert.isNull(state.bench)
      if (state.pause !== null) assert.isAtMost(state.pause.expiresAtMs ?? Infinity, atMs)
      if (state.quota !== null) assert.isAtMost(state.quota.resetAtMs ?? Infinity, atMs)
    }
  })

  lives("loses each hold by its own cause alone, and tells of those that stand when one goes", ({ steps }) => {
    for (const { command, before, record } of steps) {
      const { state, atMs } = record
      const now = state === null ? [] : agentHolds(state, atMs)
      const causes = now.map(({ cause }) => cause)
      for (const { cause } of before === null ? [] : agentHolds(before, atMs)) {
        if (causes.includes(cause)) continue
        const lifting = { manual: ["Resume"], bench: ["PassSmoke", "Restore"], quota: ["ResetQuota"], budget: [] }
        assert.include(lifting[cause], command._tag)
      }
      for (const { event, details } of record.events) {
        if (event === "agent.resumed" && command._tag !== "Pause") assert.deepStrictEqual(details?.["holds"], now)
        if (event === "agent.smoke_recovered") assert.deepStrictEqual(details?.["holds"], now)
      }
    }
  })

  lives("is the same when its facts are replayed, and stays within its bounds", (life) => {
    assert.deepStrictEqual(life.replayed(), life.state())
    for (const { record } of life.steps) assert.isAtMost(record.state?.fastFailsMs.length ?? 0, fastFailsMax)
  })
})

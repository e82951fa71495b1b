import { assert, describe, it } from "@effect/vitest"
import type { Report } from "#contracts"
import { adviceDue } from "../../../services/sweeper/advice.ts"
import { hourMs, nowMs, uuid } from "./rows.ts"

const forecast = (changes: Partial<Report<"quota-forecast">> = {}): Report<"quota-forecast"> => ({
  kind: "quota-forecast",
  reportId: uuid(50),
  atMs: nowMs - hourMs,
  agent: "smith",
  bankedCredits: 2,
  usableQuotaPct: 12.5,
  predictedNaturalResetMs: null,
  nextCreditExpiresAtMs: null,
  nextCreditIsEstimated: true,
  optimalFromMs: nowMs,
  optimalUntilMs: nowMs + hourMs,
  decisionDeadlineMs: null,
  ...changes
})
const due = (changes: Partial<Report<"quota-forecast">> = {}, watched: ReadonlyArray<string> = []) =>
  adviceDue({ forecasts: [forecast(changes)], nowMs, watched, cooldownMs: 7 })

describe("the quota adviser", () => {
  it("advises an agent within its optimal window, with the known figures", () => {
    assert.deepStrictEqual(due(), [
      {
        entity: "agent",
        id: "smith",
        commandId: `sweep.advice.${nowMs + hourMs}`,
        finding: "advice",
        command: {
          _tag: "AdviseSpending",
          bankedCredits: 2,
          usableQuotaPct: 12.5,
          predictedNaturalResetMs: null,
          nextCreditExpiresAtMs: null,
          nextCreditIsEstimated: true,
          optimalFromMs: nowMs,
          optimalUntilMs: nowMs + hourMs,
          decisionDeadlineMs: null,
          cooldownMs: 7
        }
      }
    ])
  })

  it.each([
    ["before the window", { optimalFromMs: nowMs + 1 }, 0],
    ["in a window that has begun at any time", { optimalFromMs: null }, 1],
    ["after the window", { optimalUntilMs: nowMs }, 0],
    ["without a window", { optimalUntilMs: null }, 0],
    ["after the decision had to be made", { decisionDeadlineMs: nowMs - 1 }, 0],
    ["with nothing to spend", { bankedCredits: 0 }, 0],
    ["when nobody knows what there is to spend", { bankedCredits: null }, 1]
  ] as const)("%s", (_, changes, count) => {
    assert.strictEqual(due(changes).length, count)
  })

  it("advises only watched agents", () => {
    assert.strictEqual(due({}, ["weaver"]).length, 0)
    assert.strictEqual(due({}, ["weaver", "smith"]).length, 1)
  })
})

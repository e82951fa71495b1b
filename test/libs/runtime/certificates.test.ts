import { assert, describe, it } from "@effect/vitest"
import { decisive, faultOfEnd } from "../../../libs/runtime/certificates.ts"

const dayMs = 86_400_000
const startMs = Date.parse("2026-01-01T00:00:00Z")
const lasting = (days: number) => ({ fromMs: startMs, toMs: startMs + days * dayMs })

describe("a certificate", () => {
  it.each([
    ["of a year, new", 365, 0, undefined],
    ["of a year, fourteen days before its end", 365, 351, undefined],
    ["of a year, less than that before its end", 365, 351.5, "it ends in 13 days, at 2027-01-01T00:00:00.000Z"],
    ["of a year, at its end", 365, 365, "it ended at 2027-01-01T00:00:00.000Z"],
    ["of a week, new", 7, 0, undefined],
    ["of a week, after half of it", 7, 3.5, undefined],
    ["of a week, that nothing has renewed", 7, 5.5, "it ends in 1 days, at 2026-01-08T00:00:00.000Z"]
  ])("%s, is judged", (_, days, afterDays, expected) => {
    assert.strictEqual(faultOfEnd(lasting(days), startMs + afterDays * dayMs), expected)
  })
})

describe("of several certificates in a file", () => {
  const [week, month, year] = [lasting(7), lasting(30), lasting(365)]
  it.each([
    ["the first to end counts in a chain", "chain", [month, week, year], week],
    ["the last to end counts of authorities", "authorities", [month, year, week], year],
    ["none counts where there is none", "authorities", [], undefined]
  ] as const)("%s", (_, kind, all, expected) => {
    assert.strictEqual(decisive(all, kind), expected)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { leftOf, newBudget, reserved, settled } from "../../../../services/cli/payer/budget.ts"

const minuteMs = 60_000
const beganMs = 1_800_000_000_000

interface Step {
  readonly atMinute: number
  readonly pay?: bigint
  readonly settle?: readonly [id: number, microUsd: bigint]
  readonly isRefused?: true
  readonly left: bigint
}

const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>]> = [
  [
    "is used up to its last millionth, and no further",
    [
      { atMinute: 0, pay: 600n, left: 400n },
      { atMinute: 1, pay: 401n, isRefused: true, left: 400n },
      { atMinute: 1, pay: 400n, left: 0n },
      { atMinute: 2, pay: 1n, isRefused: true, left: 0n }
    ]
  ],
  [
    "is free again an hour after each payment",
    [
      { atMinute: 0, pay: 600n, left: 400n },
      { atMinute: 30, pay: 400n, left: 0n },
      { atMinute: 59, pay: 1n, isRefused: true, left: 0n },
      { atMinute: 60, pay: 500n, left: 100n },
      { atMinute: 90, left: 500n }
    ]
  ],
  [
    "gets back what was not charged",
    [
      { atMinute: 0, pay: 1_000n, left: 0n },
      { atMinute: 1, settle: [1, 300n], left: 700n },
      { atMinute: 2, pay: 700n, left: 0n },
      { atMinute: 3, settle: [2, 0n], left: 700n }
    ]
  ],
  [
    "does not get back what has left the hour by then",
    [
      { atMinute: 0, pay: 1_000n, left: 0n },
      { atMinute: 61, pay: 1_000n, left: 0n },
      { atMinute: 62, settle: [1, 0n], left: 0n }
    ]
  ]
]

describe("a budget of 1,000 an hour", () => {
  it.each(cases)("%s", (_, steps) => {
    let budget = newBudget(1_000n)
    let id = 0
    for (const { atMinute, pay, settle, isRefused, left } of steps) {
      const nowMs = beganMs + atMinute * minuteMs
      if (pay !== undefined) {
        const next = reserved(budget, { id: id + 1, atMs: nowMs, microUsd: pay })
        assert.strictEqual(next === undefined, isRefused === true)
        if (next !== undefined) [budget, id] = [next, id + 1]
      }
      if (settle !== undefined) budget = settled(budget, ...settle)
      assert.strictEqual(leftOf(budget, nowMs), left)
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { isProtected } from "../../../../services/webhook-dispatcher/endpoints/presence.ts"

const at = (wallMs: number, monotonicMs = wallMs) => ({ wallMs, monotonicMs })

describe("a dispatcher's presence", () => {
  it.each([
    ["just renewed", at(1_000), at(1_000), true],
    ["renewed two seconds ago", at(1_000), at(3_000), true],
    ["about to end at the broker", at(1_000), at(3_500), false],
    ["never renewed", undefined, at(1_000), false],
    ["renewed before the machine slept: only the wall clock knows", at(1_000, 1_000), at(60_000, 1_100), false],
    ["renewed before the wall clock was set back: only the other knows", at(60_000, 1_000), at(59_000, 9_000), false],
    ["renewed before the wall clock was set back a little", at(60_000, 1_000), at(59_999, 1_100), false]
  ])("%s", (_when, sentAt, now, expected) => {
    assert.strictEqual(isProtected(sentAt, now), expected)
  })
})

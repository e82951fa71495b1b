import { assert, describe, it } from "@effect/vitest"
import { toneOf } from "../../../../page/screens/history/timeline.ts"

describe("the colour of what happened", () => {
  it.each([
    ["begun", "critical", "bad"],
    ["begun", "warning", "wait"],
    ["ended", "critical", "good"],
    ["opened", null, "bad"],
    ["closed", null, "good"],
    ["started", null, "quiet"]
  ] as const)("%s, %s: %s", (change, severity, tone) => {
    assert.strictEqual(toneOf(change, severity), tone)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeEndpointSettings } from "#webhooks/contract"
import { shownSettings } from "#webhooks"

const shownOf = (settings: object) =>
  shownSettings(Result.getOrThrow(decodeEndpointSettings({ Name: "ci", ...settings })))

describe("an endpoint's settings as they are shown", () => {
  it.each([
    ["https://ci.example/hooks", "https://ci.example/hooks"],
    ["https://ci.example/hooks?", "https://ci.example/hooks?=***"],
    ["https://ci.example/hooks?token=a=b&x", "https://ci.example/hooks?token=***&x=***"],
    ["https://ci.example/hooks?a=1?b=2", "https://ci.example/hooks?a=***"]
  ])("have the address %s without the values of its query", (Url, shown) => {
    assert.strictEqual(shownOf({ Url }).settings.Url, shown)
  })

  it("have only the names of the receiver's own headers", () => {
    const shown = shownOf({ Url: "https://ci.example", Headers: { Authorization: "Bearer of-a-key" } })
    assert.deepStrictEqual(shown.headerNames, ["Authorization"])
    assert.notInclude(JSON.stringify(shown), "of-a-key")
  })
})

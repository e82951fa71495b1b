import { describe, expect, it } from "vitest"
import {
  changedSettings,
  filtersIn,
  newSecret,
  newSettings,
  settingFields,
  settingOf,
  typedOf
} from "../../../../page/screens/endpoints/endpoint-form.ts"

const field = (key: string) => {
  const found = settingFields.find((one) => one.key === key)
  if (found === undefined) throw new Error(`no field ${key}`)
  return found
}

describe("the form of an endpoint", () => {
  it.each([
    ["MaxAttempts", "5", 5],
    ["MaxAttempts", "many", "many"],
    ["MaxAttempts", " ", undefined],
    ["EventFilter", "work_item.*, queue.paused", ["work_item.*", "queue.paused"]],
    ["EventFilter", "", []],
    ["ContentFilter", '{ "event": ["queue.paused"] }', { event: ["queue.paused"] }],
    ["ContentFilter", "{ event", "{ event"],
    ["ContentFilter", " ", undefined],
    ["CircuitBreaker", "false", false],
    ["Url", " https://ci.example/hooks ", "https://ci.example/hooks"]
  ])("takes for %s what was typed as %j: %j", (key, typed, value) => {
    expect(settingOf(typed, field(key))).toEqual(value)
  })

  it.each([
    ["EventFilter", ["a.*", "b"], "a.*, b"],
    ["ContentFilter", { event: ["queue.paused"] }, '{"event":["queue.paused"]}'],
    ["MaxAttempts", undefined, ""],
    ["CircuitBreaker", undefined, "true"],
    ["CircuitBreaker", false, "false"]
  ])("shows %s of %j as %j", (key, value, typed) => {
    expect(typedOf({ [key]: value }, field(key))).toBe(typed)
  })

  it("sends of a new endpoint only what was typed", () => {
    expect(newSettings({ Name: "ci", Url: "https://ci.example/hooks", TimeoutSeconds: "" })).toEqual({
      Name: "ci",
      Url: "https://ci.example/hooks"
    })
  })

  it("sends of a change what differs, and null for what was emptied", () => {
    const before = { Name: "ci", Url: "https://ci.example/hooks", TimeoutSeconds: 5, MaxAttempts: 3 }
    const typed = { Name: "ci", TimeoutSeconds: "", MaxAttempts: "4" }
    expect(changedSettings(before, typed)).toEqual({ TimeoutSeconds: null, MaxAttempts: 4 })
  })

  it("tries the filters as they would be", () => {
    const before = { Name: "ci", EventFilter: ["queue.*"], ContentFilter: { project: { id: ["a"] } } }
    expect(filtersIn(before, {})).toEqual({ EventFilter: ["queue.*"], ContentFilter: { project: { id: ["a"] } } })
    expect(filtersIn(before, { ContentFilter: "", EventFilter: "*" })).toEqual({ EventFilter: ["*"] })
  })

  it("makes a secret of Standard Webhooks from its bytes", () => {
    expect(newSecret(new Uint8Array(32))).toBe(`whsec_${Buffer.alloc(32).toString("base64")}`)
  })
})

import { describe, expect, it } from "vitest"
import { faultsAt, readTyped, typedOf, typeFields } from "../../../../page/screens/types/type-form.ts"

const before = { Name: "order.paid", Owners: ["internal-services"], Schema: { type: "object" }, OptIn: true }

describe("the form of an event type", () => {
  it.each([
    [
      "a new type",
      {},
      { Name: " order.paid ", Owners: "a, token:b", Schema: '{"type":"object"}' },
      {
        Name: "order.paid",
        Owners: ["a", "token:b"],
        Schema: { type: "object" }
      }
    ],
    ["nothing", before, {}, {}],
    ["what is typed again", before, { Owners: "internal-services", OptIn: "true" }, {}],
    ["an emptied key", before, { Schema: " ", OptIn: "false" }, { Schema: null, OptIn: false }],
    ["an empty key that was empty", {}, { Description: " " }, {}]
  ])("reads %s", (_, settings, typed, read) => {
    expect(readTyped(settings, typed as Record<string, string>)).toEqual({ settings: read, faults: {} })
  })

  it.each(["{", "[]", "null", "7"])("says at its field that %s is no JSON object", (Schema) => {
    expect(readTyped({}, { Schema })).toEqual({ settings: {}, faults: { Schema: "is no JSON object" } })
  })

  it("shows every setting as what reads back as the same", () => {
    for (const field of typeFields) {
      expect(readTyped(before, { [field.key]: typedOf(before, field) }).settings).toEqual({})
    }
  })

  it("finds what is wrong within a field", () => {
    const faults = { "Schema.properties.total.type": "is none", Name: "is missing", "settings.Owners": "is empty" }
    expect(faultsAt("Schema", faults)).toBe("properties.total.type: is none")
    expect([faultsAt("Name", faults), faultsAt("Owners", faults)]).toEqual(["is missing", "is empty"])
    expect(faultsAt("Example", faults)).toBeUndefined()
  })
})

import { describe, expect, it } from "vitest"
import { exampleEnvelope, findEvent } from "#base"
import { eventSchema } from "#pipeline/contract"
import { fieldsOf, valueOf } from "../../../../page/screens/events/fields.ts"

const stuck = "work_item.agent_stuck"
const declaration = findEvent(stuck)
if (declaration === undefined) throw new Error(`${stuck} is not in the catalogue`)
const fields = fieldsOf(exampleEnvelope(stuck) ?? {}, eventSchema(declaration))
const field = (path: string) => {
  const found = fields.find((one) => one.path === path)
  if (found === undefined) throw new Error(`no field ${path}`)
  return found
}

describe("the fields of an example", () => {
  it("names each by its path, without those that the API sets itself", () => {
    const paths = fields.map(({ path }) => path)
    expect(paths).toContain("workItem.title")
    expect(paths).toContain("details.stuckSeconds")
    expect(paths).not.toContain("event")
    expect(paths).not.toContain("occurredAt")
  })

  it("knows the only values of a field from the schema", () => {
    expect(field("details.phase").choices).toEqual(["work", "rework", "merge"])
    expect(field("workItem.title").choices).toEqual([])
  })

  it.each([
    ["details.stuckSeconds", "12", 12],
    ["details.stuckSeconds", "soon", "soon"],
    ["workItem.title", "12", "12"],
    ["workItem.lastError", "", null],
    ["details.killed", "false", false],
    ["details.phase", "merge", "merge"]
  ])("takes for %s what was typed as %j: %j", (path, typed, value) => {
    expect(valueOf(typed, field(path))).toBe(value)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { entityOf, type Envelope, exampleEnvelope } from "#base"

const event = (details: Record<string, unknown>, changes: Partial<Envelope> = {}): Envelope => ({
  ...(exampleEnvelope("queue.paused") as unknown as Envelope),
  workItem: null,
  project: null,
  details,
  ...changes
})
const long = "e".repeat(70_000)

describe("the entity of an event", () => {
  it("is its work item, release, project or agent by name", () => {
    assert.strictEqual(entityOf(event({ workItemId: "w-1" })), "workItem:w-1")
    assert.strictEqual(entityOf(event({ projectId: "p-1" })), "project:p-1")
    assert.strictEqual(entityOf(event({ agent: "a" })), "agent:a")
    assert.isUndefined(entityOf(event({})))
  })

  it.each(["workItemId", "projectId", "agent", "agentKind"])("never takes more than 256 bytes from %s", (field) => {
    for (const text of [
      long,
      "\u0000".repeat(300),
      "語".repeat(300),
      "😀".repeat(100),
      `${long}\r\nNats-Rollup: all`
    ]) {
      const entity = entityOf(event({ [field]: text })) ?? ""
      assert.isAtMost(Buffer.byteLength(entity), 256)
      assert.strictEqual(entityOf(event({ [field]: text })), entity)
      assert.notStrictEqual(entityOf(event({ [field]: `${text}.` })), entity)
    }
  })

  it("of a long name keeps its kind, so that two kinds of one name are two entities", () => {
    assert.match(entityOf(event({ workItemId: long })) ?? "", /^workItem:digest:[0-9a-f]{16}$/u)
    assert.match(entityOf(event({ agent: long })) ?? "", /^agent:digest:[0-9a-f]{16}$/u)
  })
})

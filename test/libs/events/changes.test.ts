import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { EventTypeFailure } from "#events"
import { decideChange, type Decided, decideDeclaration } from "../../../libs/events/changes.ts"

const act = { at: "2026-05-01T12:00:00.000Z", by: "t_1" }
const context = { act, firstEvent: 1, lastEvent: 100 }
const order = {
  Name: "order.created",
  Owners: ["internal-services"],
  Schema: { type: "object", required: ["id"] },
  Example: { id: "A-1" }
}

const declared = (given: object = order) => Result.getOrThrow(decideDeclaration(undefined, given, context)).record
const change = (changes: Readonly<Record<string, unknown>>, at = context, before = declared()) =>
  decideChange(before, { revision: before.revision, changes }, at)
const outcome = (decided: Result.Result<Decided, EventTypeFailure>) =>
  Result.match(decided, {
    onSuccess: ({ record, isSame }) => (isSame ? "same" : `revision ${record.revision}`),
    onFailure: (error) => `${error._tag}: ${error.message}`
  })

describe("a declaration of an event type", () => {
  it("holds for the events after the last one", () => {
    assert.deepInclude(declared(), { name: "order.created", revision: 1, startsAfter: 100, past: [], created: act })
  })

  it("asked for again changes nothing, and another of its name is refused", () => {
    assert.strictEqual(outcome(decideDeclaration(declared(), order, context)), "same")
    const other = { ...order, Owners: ["token:shop"] }
    assert.match(outcome(decideDeclaration(declared(), other, context)), /^EventTypeExists/u)
  })

  it("is refused with every fault", () => {
    const faulty = { Name: "work_item.merged", Owners: ["internal-services"], Schema: { type: "text" } }
    assert.match(outcome(decideDeclaration(undefined, faulty, context)), /\/Name: .*\/Schema\/type: /u)
  })
})

describe("a change of an event type", () => {
  const table: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, RegExp]> = [
    ["of nothing is none", { Owners: ["internal-services"] }, /^same$/u],
    ["adds an owner", { Owners: ["internal-services", "token:shop"] }, /^revision 2$/u],
    ["retires it", { Retired: true }, /^revision 2$/u],
    ["gives a key its default with null", { Schema: null }, /^revision 2$/u],
    ["is refused with another name", { Name: "order.made" }, /\/Name: an event type keeps its name/u],
    ["is refused when its own example breaks the schema", { Schema: { required: ["total"] } }, /\/Example: /u],
    [
      "is refused when the example of before breaks the schema",
      { Schema: { required: ["total"] }, Example: { total: 1 } },
      /\/Schema: it refuses the example of before/u
    ],
    [
      "may break the example of before with another version",
      { Schema: { required: ["total"] }, Example: { total: 1 }, SchemaVersion: "1.1.0" },
      /^revision 2$/u
    ]
  ]
  it.each(table)("%s", (_name, changes, expected) => {
    assert.match(outcome(change(changes)), expected)
  })

  it("by whom has seen an older revision is refused", () => {
    const before = { ...declared(), revision: 3 }
    assert.match(
      outcome(decideChange(before, { revision: 2, changes: { Retired: true } }, context)),
      /^EventTypeWasChanged/u
    )
  })

  it("leaves what held for the events before it, as long as such events are kept", () => {
    const second = Result.getOrThrow(change({ Retired: true }, { ...context, lastEvent: 200 })).record
    assert.deepInclude(second, { revision: 2, startsAfter: 200 })
    assert.deepStrictEqual(
      second.past.map(({ startsAfter }) => startsAfter),
      [100]
    )

    const later = { act, firstEvent: 201, lastEvent: 300 }
    const third = Result.getOrThrow(change({ Retired: false }, later, second)).record
    assert.deepStrictEqual(
      third.past.map(({ startsAfter }) => startsAfter),
      [200],
      "the first judges no event that is kept"
    )

    const soon = { ...context, lastEvent: 200 }
    const again = Result.getOrThrow(change({ Retired: false }, soon, second)).record
    assert.deepStrictEqual(
      again.past.map(({ startsAfter }) => startsAfter),
      [100],
      "nothing was stored under the second"
    )
  })

  it("leaves at most eight, and no more bytes than a record has room for", () => {
    let record = declared()
    for (let turn = 1; turn <= 20; turn += 1) {
      const at = { ...context, lastEvent: 100 + turn }
      record = Result.getOrThrow(change({ Description: `turn ${turn}` }, at, record)).record
    }
    assert.lengthOf(record.past, 8)
    const large = { ...order, Schema: { ...order.Schema, description: "x".repeat(60_000) } }
    record = declared(large)
    for (let turn = 1; turn <= 10; turn += 1) {
      const at = { ...context, lastEvent: 100 + turn }
      record = Result.getOrThrow(change({ Description: `turn ${turn}` }, at, record)).record
    }
    assert.lengthOf(record.past, 5)
    assert.isBelow(JSON.stringify(record).length, 400 * 1_024)
  })
})

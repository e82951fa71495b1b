import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { encodeToken, eventCatalogue, exampleEnvelope } from "#base"
import { type DeclaredTypes, type EventType, judgeEvent, readEventType } from "#events"
import { decodeEventType } from "#events/contract"

const typeOf = (given: Readonly<Record<string, unknown>>): EventType =>
  Result.getOrThrow(
    readEventType(
      Result.getOrThrow(
        decodeEventType({ Name: "order.created", Owners: ["internal-services", "token:shop"], ...given })
      )
    )
  )

const typesOf = (type: EventType | undefined, takesUndeclared = false): DeclaredTypes => ({
  at: (name) => (name === type?.name ? type : undefined),
  takesUndeclared
})
const none = typesOf(undefined)

const orderCreated = (changes: Readonly<Record<string, unknown>> = {}) => ({
  event: "order.created",
  eventSchemaVersion: "1.0.0",
  occurredAt: "2026-05-01T12:00:00Z",
  details: { id: "A-1" },
  ...changes
})

const judged = (envelope: unknown, from: string | undefined, types: DeclaredTypes) =>
  Result.match(judgeEvent({ envelope, from, sequence: 7 }, types), {
    onSuccess: ({ isDeclared, isOptIn }) => `${isDeclared ? "declared" : "undeclared"}${isOptIn ? ", opt-in" : ""}`,
    onFailure: (faults) => faults.map(({ path, message }) => `${path}: ${message}`).join("; ")
  })

const withSchema = typeOf({ Schema: { type: "object", required: ["id"], properties: { id: { type: "string" } } } })

describe("an event's judgement", () => {
  const table: ReadonlyArray<readonly [string, unknown, string, DeclaredTypes, string]> = [
    ["of a declared type, by its owner", orderCreated(), "internal-services", typesOf(typeOf({})), "declared"],
    ["by a token that owns the type", orderCreated(), encodeToken("token:shop"), typesOf(typeOf({})), "declared"],
    ["of an opt-in type", orderCreated(), "internal-services", typesOf(typeOf({ OptIn: true })), "declared, opt-in"],
    [
      "whose type nobody declared",
      orderCreated(),
      "internal-services",
      none,
      "/event: no event type order.created is declared"
    ],
    [
      "whose type nobody declared, where that is allowed",
      orderCreated(),
      "internal-services",
      typesOf(undefined, true),
      "undeclared"
    ],
    ["by another user", orderCreated(), "runners", typesOf(typeOf({})), "/event: runners is no owner of order.created"],
    [
      "by another token",
      orderCreated(),
      encodeToken("token:Shop"),
      typesOf(typeOf({})),
      "/event: token:Shop is no owner of order.created"
    ],
    [
      "of a retired type",
      orderCreated(),
      "internal-services",
      typesOf(typeOf({ Retired: true })),
      "/event: order.created is retired"
    ],
    [
      "whose details break the schema",
      orderCreated({ details: { id: 1 } }),
      "internal-services",
      typesOf(withSchema),
      "/details/id: Expected `1` (number) to be of type `string`"
    ],
    [
      "without the details that the schema wants",
      orderCreated({ details: null }),
      "internal-services",
      typesOf(withSchema),
      "/details: Expected `` (null) to be of type `object`"
    ],
    [
      "whose envelope is broken",
      orderCreated({ occurredAt: 5 }),
      "internal-services",
      typesOf(typeOf({})),
      "/occurredAt: Expected Timestamp"
    ],
    [
      "of the fleet's own names, from outside",
      exampleEnvelope("work_item.merged"),
      "internal-services",
      none,
      "/event: work_item.merged is the fleet's own, and internal-services published it"
    ],
    [
      "of a name beside the fleet's own",
      orderCreated({ event: "work_item.mergd" }),
      "internal-services",
      none,
      "/event: work_item.mergd is the fleet's own, and internal-services published it"
    ],
    [
      "that services publish about themselves",
      exampleEnvelope("sandbox.leak_detected"),
      "internal-services",
      none,
      "declared"
    ]
  ]
  it.each(table)("%s", (_name, envelope, from, types, expected) => {
    assert.strictEqual(judged(envelope, from, types), expected)
  })

  const forged: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, string]> = [
    ["a type of its own", { type: "work_item.merged" }, "/cloudEvent/type"],
    ["a time of its own", { time: "2020-01-01T00:00:00Z" }, "/cloudEvent/time"],
    ["a version of its own", { specversion: "2.0" }, "/cloudEvent/specversion"],
    ["data", { data: "x" }, "/cloudEvent/data"],
    ["an id of two lines", { id: "a\r\nX: y" }, "/cloudEvent/id"],
    ["half of a surrogate pair", { id: "\ud800" }, "/cloudEvent/id"],
    ["a source that is no URI", { source: "a b" }, "/cloudEvent/source"],
    ["a name that no header takes", { "a\r\nX": "y" }, "/cloudEvent/a\r\nX"]
  ]
  it.each(forged)("of an envelope whose cloudEvent has %s names the place", (_name, attributes, path) => {
    const envelope = orderCreated({ cloudEvent: { id: "7", source: "/shop", ...attributes } })
    const found = judgeEvent({ envelope, from: "internal-services", sequence: 7 }, typesOf(typeOf({})))
    assert.deepStrictEqual(Result.isFailure(found) ? found.failure.map((fault) => fault.path) : [], [path])
  })

  it("takes the fleet's own events whatever is declared", () => {
    for (const { name, isProgress } of eventCatalogue) {
      assert.strictEqual(judged(exampleEnvelope(name), undefined, none), isProgress ? "declared, opt-in" : "declared")
    }
    // Of a role of a later release.
    assert.strictEqual(judged(orderCreated(), undefined, none), "undeclared")
  })

  it("asks for the type as it was at the event's own place", () => {
    const asked: Array<number> = []
    const at = (_: string, sequence: number) => void asked.push(sequence)
    judgeEvent({ envelope: orderCreated(), from: "internal-services", sequence: 41 }, { at, takesUndeclared: false })
    assert.deepStrictEqual(asked, [41])
  })
})

describe("an event type", () => {
  const faults = (given: Readonly<Record<string, unknown>>) => {
    const entry = decodeEventType({ Name: "order.created", Owners: ["internal-services"], ...given })
    const type = Result.flatMap(entry, readEventType)
    return Result.isFailure(type) ? type.failure.map(({ path }) => path) : []
  }

  const refused: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, string]> = [
    ["a name of the fleet", { Name: "work_item.merged" }, "/Name"],
    ["a name that services publish about themselves", { Name: "sandbox.leak_detected" }, "/Name"],
    ["a name beside the fleet's", { Name: "release.planned" }, "/Name"],
    ["a name with capitals", { Name: "Order.created" }, "/Name"],
    ["no owner", { Owners: [] }, "/Owners"],
    ["an owner that is no user", { Owners: ["a b"] }, "/Owners/0"],
    ["a schema that is none", { Schema: { type: "text" } }, "/Schema/type"],
    ["an example that the schema refuses", { Schema: { required: ["id"] }, Example: {} }, "/Example"],
    ["a version of another major", { SchemaVersion: "2.0.0" }, "/SchemaVersion"],
    ["an unknown key", { Shema: {} }, "/Shema"]
  ]
  it.each(refused)("is refused with %s", (_name, given, path) => {
    assert.include(faults(given), path)
  })

  it("needs a name and an owner alone", () => {
    assert.deepStrictEqual(faults({}), [])
  })
})

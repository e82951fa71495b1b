import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeEnvelope, eventCatalogue, exampleEnvelope } from "#base"
import { contractTable, type EventRow } from "./contract-table.ts"

type Envelope = Readonly<Record<string, unknown>>

const example = (name: string): Envelope => {
  const found = exampleEnvelope(name)
  assert.isDefined(found, name)
  return found
}
const faultPaths = (input: unknown) => {
  const decoded = decodeEnvelope(input)
  return Result.isFailure(decoded) ? decoded.failure.map(({ path }) => path) : []
}
const whole = example("work_item.merged")
const usageTotal = { tokensInput: 1, tokensOutput: 2, tokensReasoning: 0, tokensCached: 3, costUsd: 0.25, elapsedMs: 4 }
const usage = { iteration: 1, ...usageTotal }
const finding = { auditor: "style", severity: "Error", title: "Rust", location: "gate.ts:7", description: "It creaks." }

const hold = { cause: "manual", reason: "frost", pausedBy: "ann", since: "2026-11-20T11:00:00.000Z", until: null }

const uuid = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
/** Values that a type takes, and values that it does not. */
const types: Readonly<Record<string, readonly [good: ReadonlyArray<unknown>, bad: ReadonlyArray<unknown>]>> = {
  string: [["x"], [7, true, {}]],
  int: [
    [1, 77],
    [1.5, "1"]
  ],
  number: [
    [1, 1.5],
    ["1.5", true]
  ],
  bool: [
    [true, false],
    ["true", 1]
  ],
  true: [[true], [false, "true"]],
  nothing: [[null], ["ann"]],
  time: [
    ["2026-11-20T11:00:00.000Z", "2026-11-20T11:00:00+05:30"],
    ["2026-11-20", "2026-11-20T11:00:00", 1]
  ],
  uuid: [[uuid], ["6f1c2f0e", 7]],
  sha: [
    ["0123abc", "ABCDEF0", "a".repeat(40)],
    ["0123ab", "a".repeat(41), "main-branch"]
  ],
  "question-id": [
    ["q-1_A", "q".repeat(64)],
    ["", "q 1", "q.1", "q".repeat(65)]
  ],
  "service-name": [["service-1"], ["other-1", "service"]],
  "string[]": [
    [[], ["a", "b"]],
    ["a", [7], null]
  ],
  holds: [
    [[], [hold, { ...hold, cause: "budget", reason: null, pausedBy: null, until: "2026-11-20T12:00:00.000Z" }]],
    [[{ ...hold, cause: "weather" }], [{ ...hold, since: null }], {}]
  ],
  findings: [
    [[], [finding, { ...finding, severity: "Info", location: null }, { ...finding, severity: "Warning" }]],
    [[{ ...finding, severity: "Fatal" }], [{ ...finding, auditor: undefined }], [{ ...finding, title: null }], {}]
  ]
}

const valuesOf = (type: string) => {
  const [good, bad] = types[type] ?? [type.split("|"), ["something else", 7]]
  return { good, bad }
}

/** Sets a value in the envelope, by its place. */
const withAt = (envelope: Envelope, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): Envelope =>
  rest.length === 0
    ? { ...envelope, [key]: value }
    : { ...envelope, [key]: withAt(envelope[key] as Envelope, rest, value) }

const withoutAt = (envelope: Envelope, [key = "", ...rest]: ReadonlyArray<string>): Envelope => {
  if (rest.length > 0) return { ...envelope, [key]: withoutAt(envelope[key] as Envelope, rest) }
  const { [key]: _removed, ...others } = envelope
  return others
}

/** The field exists with that type, is null only where its type says so, and is absent only where it may be. */
const checkField = (envelope: Envelope, place: ReadonlyArray<string>, written: string) => {
  const path = `/${place.join("/")}`
  const mayBeLeftOut = written.startsWith("~")
  const type = mayBeLeftOut ? written.slice(1) : written
  const isNullable = type.endsWith("?")
  const { good, bad } = valuesOf(isNullable ? type.slice(0, -1) : type)
  const says = (value: unknown) => faultPaths(withAt(envelope, place, value))
  for (const value of good) assert.deepStrictEqual(says(value), [], `${path} = ${JSON.stringify(value)}`)
  for (const value of bad) {
    assert.isTrue(
      says(value).some((fault) => fault.startsWith(path)),
      `${path} = ${JSON.stringify(value)} passed`
    )
  }
  if (isNullable || type === "nothing") assert.deepStrictEqual(says(null), [], `${path} = null`)
  else assert.isNotEmpty(says(null), `${path} = null passed`)
  assert.deepStrictEqual(faultPaths(withoutAt(envelope, place)), mayBeLeftOut ? [] : [path])
}

describe("the catalogue", () => {
  it("has every event of the contract, and no other", () => {
    assert.sameMembers(
      eventCatalogue.map(({ name }) => name),
      Object.keys(contractTable)
    )
  })

  it.each(Object.entries(contractTable))("has every detail field of %s with its type", (name, row) => {
    const { details, mayBeNull = false } = row
    if (details === "null" || details === "open") {
      assert.deepStrictEqual(faultPaths({ ...example(name), details: null }), [])
      assert.deepStrictEqual(faultPaths({ ...example(name), details: {} }), details === "open" ? [] : ["/details"])
      return
    }
    const envelope = example(name)
    assert.sameMembers(Object.keys(envelope["details"] as object), Object.keys(details))
    for (const [field, type] of Object.entries(details)) checkField(envelope, ["details", field], type)
    assert.deepStrictEqual(faultPaths({ ...envelope, details: null }), mayBeNull ? [] : ["/details"])
  })

  it.each(Object.entries(contractTable))("has item, project or release of %s as in the contract", (name) => {
    const { workItem, project } = contractTable[name] as EventRow
    const envelope = example(name)
    const takes = (changes: Envelope) => faultPaths({ ...envelope, ...changes }).length === 0
    if (workItem === "absent") {
      assert.notProperty(envelope, "workItem")
      assert.deepStrictEqual(faultPaths(withoutAt(envelope, ["release"])), ["/release"])
    } else {
      assert.strictEqual(takes({ workItem: whole["workItem"] }), workItem !== "null")
      assert.strictEqual(takes({ workItem: null }), workItem !== "present")
    }
    assert.strictEqual(takes({ project: whole["project"] }), project !== "null")
    assert.strictEqual(takes({ project: null }), project !== "present")
  })
})

describe("an envelope", () => {
  it.each([
    [["occurredAt"], "time"],
    [["workItem", "id"], "uuid"],
    [["workItem", "externalId"], "string?"],
    [["workItem", "projectId"], "string"],
    [["workItem", "title"], "string"],
    [["workItem", "agent"], "string"],
    [["workItem", "repositoryUrl"], "string"],
    [["workItem", "baseBranch"], "string"],
    [["workItem", "workBranch"], "string"],
    [["workItem", "state"], "string"],
    [["workItem", "createdAt"], "time"],
    [["workItem", "updatedAt"], "time"],
    [["workItem", "lastError"], "string?"],
    [["workItem", "upstreamPushAttempts"], "int"],
    [["project", "id"], "string"],
    [["project", "displayName"], "string"],
    [["project", "repositoryUrl"], "string"],
    ...Object.keys(usageTotal).flatMap((key) =>
      ["usage", "usageTotal"].map((block) => [[block, key], key === "costUsd" ? "number" : "int"] as const)
    ),
    [["usage", "iteration"], "int"]
  ] as const)("has %o of type %s", (place, type) => {
    checkField({ ...whole, usage, usageTotal }, place, type)
  })

  it("has the release's id, name and state in place of a work item", () => {
    const released = example("release.created")
    for (const field of ["id", "name"]) checkField(released, ["release", field], "string")
    checkField(released, ["release", "state"], "open|closed|in_review|published|failed|abandoned")
  })

  it("has a semantic version, and the two cost blocks only when costs are known", () => {
    for (const version of ["1.0.0", "1.12.3"]) {
      assert.deepStrictEqual(faultPaths({ ...whole, eventSchemaVersion: version }), [])
    }
    for (const version of ["1", "1.1", "v1.1.0", "01.1.0", "", null]) {
      assert.deepStrictEqual(faultPaths({ ...whole, eventSchemaVersion: version }), ["/eventSchemaVersion"])
    }
    assert.notProperty(whole, "usage")
    assert.deepStrictEqual(faultPaths({ ...whole, usageTotal: null }), ["/usageTotal"])
  })
})

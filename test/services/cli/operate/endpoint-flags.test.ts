import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Command, Completions } from "effect/cli"
import { Timestamp } from "#base"
import { describe as described } from "../../../../libs/base/primitives.ts"
import {
  argumentsOf,
  columnsText,
  fieldsOf,
  flagOf,
  flagsOf,
  propertiesOf,
  sentence
} from "../../../../services/cli/operate/endpoint-flags.ts"

const { optionalKey, String: Text } = Schema
const said = described("Only those of `this`.")
const wholeNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
const digits = Text.check(Schema.isPattern(/^\d{1,6}$/u))

const flagBy = (field: string, schema: Schema.Top) =>
  flagOf(field, propertiesOf(Schema.Struct({ [field]: schema }))[field] ?? {})

/** A field, what is typed for it, and what the endpoint is sent. */
const table: ReadonlyArray<
  readonly [field: string, schema: Schema.Top, flag: string, typed: ReadonlyArray<string>, sent: unknown]
> = [
  ["origin", optionalKey(Text), "--origin", ["events"], "events"],
  ["origin", optionalKey(Text), "--origin", [], undefined],
  ["projectId", optionalKey(Text), "--project", ["p1"], "p1"],
  ["eventSequence", optionalKey(digits), "--event-sequence", ["17"], "17"],
  ["dryRun", optionalKey(Schema.Boolean), "--dry-run", ["true"], true],
  ["dryRun", optionalKey(Schema.Boolean), "--dry-run", [], false],
  ["ended", optionalKey(Schema.Literals(["true", "false"])), "--ended", ["true"], "true"],
  ["ended", optionalKey(Schema.Literals(["true", "false"])), "--ended", [], undefined],
  ["outcome", optionalKey(Schema.Literals(["failed", "gone"])), "--outcome", ["gone"], "gone"],
  ["events", optionalKey(Schema.Array(Text)), "--event", ["a", "b"], ["a", "b"]],
  ["events", optionalKey(Schema.Array(Text)), "--event", [], []],
  ["max", optionalKey(wholeNumber), "--max", ["9"], 9],
  ["begunAt", optionalKey(Timestamp), "--begun-at", ["2026-11-20T12:00:00Z"], "2026-11-20T12:00:00Z"]
]

/** Values that are refused before anything is sent, and what they should have been. */
const refused: ReadonlyArray<readonly [field: string, schema: Schema.Top, typed: string, expected: string]> = [
  ["max", optionalKey(wholeNumber), "10", "a whole number from 1 to 9"],
  ["max", optionalKey(wholeNumber), "", "a whole number from 1 to 9"],
  ["outcome", optionalKey(Schema.Literals(["failed", "gone"])), "well", '"failed" | "gone"'],
  ["begunAt", optionalKey(Timestamp), "yesterday", "a time such as 2026-11-20T12:00:00Z"]
]

const named = (flag: ReturnType<typeof flagOf>) => {
  const [found] = Completions.fromCommand(Command.make("list", { flag })).flags
  return { name: `--${found?.name}`, description: found?.description ?? "" }
}

const valueOf = (flag: ReturnType<typeof flagOf>, typed: ReadonlyArray<string>) => {
  const flags = typed.length === 0 ? {} : { [named(flag).name.slice(2)]: typed }
  return Effect.map(flag.parse({ flags, arguments: [] }), ([, value]) => value)
}

describe("the flag of a field", () => {
  const rows = table.map(([field, schema, name, typed, sent]) => ({ field, schema, name, typed, sent }))
  it.effect.each(rows)("$field is $name, and given $typed sends $sent", ({ field, schema, name, typed, sent }) =>
    Effect.gen(function* () {
      const flag = flagBy(field, schema.pipe(said))
      assert.strictEqual(named(flag).name, name)
      assert.match(named(flag).description, /^only those of this/u)
      assert.deepStrictEqual(yield* valueOf(flag, typed), sent)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  const wrong = refused.map(([field, schema, typed, expected]) => ({ field, schema, typed, expected }))
  it.effect.each(wrong)("$field refuses $typed: it is $expected", ({ field, schema, typed, expected }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(valueOf(flagBy(field, schema.pipe(said)), [typed]))
      assert.include(error.message, expected)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.each([
    ["Only those of `this`.", "only those of this"],
    ["`true`: those that ended. Without it, those that stand.", "true: those that ended. Without it, those that stand"],
    ["CLAIMED or SERVING.", "CLAIMED or SERVING"]
  ])("says %j as %j", (description, words) => {
    assert.strictEqual(sentence(description), words)
  })
})

describe("the help of a list", () => {
  it("explains each heading in the words of the API", () => {
    const columns = { attempt: "attempt", delivery: "deliveryId", event: "event", price: "no field" }
    assert.strictEqual(
      columnsText("listDeliveries", columns),
      [
        "  Columns:",
        "    attempt   the number of the attempt, from 1",
        "    delivery  the delivery's id, as the receiver sees it in X-Service-Delivery",
        "    event     the event's name",
        "    price"
      ].join("\n")
    )
  })
})

describe("the command of an endpoint", () => {
  it("takes the path's parameters as arguments, and the fields of query and body as flags, its own first", () => {
    assert.deepStrictEqual(Object.keys(argumentsOf(fieldsOf("resendRejected").params)), ["sequence"])
    assert.deepStrictEqual(Object.keys(flagsOf("listRejected")), ["origin", "limit", "cursor"])
    assert.deepStrictEqual(Object.keys(flagsOf("resendRejected")), ["reason"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Fault, faultsOf } from "#base"
import { computed } from "../../../support/processor-time.ts"
import { type BoundedDecoder, boundedDecoder, pointedFaults } from "../../../../libs/base/json/decoding.ts"

const Part = Schema.Struct({ type: Schema.String })
const Turn = Schema.Struct({
  role: Schema.Literals(["user", "model"]),
  parts: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Part)]))
})
const Conversation = Schema.Struct({
  name: Schema.NonEmptyString,
  turns: Schema.Array(Turn).check(Schema.isBetweenLength(1, 10_000)),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int))
})

const decode = boundedDecoder(Conversation)
const decodeStrictly = boundedDecoder(Conversation, { onExcessProperty: "error" })
const decodeAll = Schema.decodeUnknownResult(Conversation, { errors: "all" })

const foundIn = (value: unknown, decoder: BoundedDecoder<unknown> = decode) => {
  const decoded = decoder(value)
  return Result.isSuccess(decoded) ? { listed: [], mayBeMore: false } : decoded.failure
}
const pathsOf = (value: unknown, decoder: BoundedDecoder<unknown> = decode) =>
  foundIn(value, decoder).listed.map(({ path }) => path.join("."))

const many = <A>(length: number, one: (at: number) => A) => Array.from({ length }, (_, at) => one(at))
const sound = { role: "user", parts: [{ type: "text" }] }
const turns = (length: number, wrong: Readonly<Record<number, unknown>>) =>
  many(length, (at) => (at in wrong ? wrong[at] : sound))

describe("bounded decoding", () => {
  it("gives what the schema gives", () => {
    for (const value of [
      { name: "a", turns: [sound], unknown: 1 },
      { name: "a", turns: turns(9_999, {}), labels: { b: 1 } }
    ]) {
      assert.deepStrictEqual(Result.getOrThrow(decode(value)), Result.getOrThrow(decodeAll(value)))
    }
  })

  it("lists every fault of a small value", () => {
    const value = { name: "", turns: [{ role: "nobody", parts: [{}, 1] }, 2], labels: { b: "c" } }
    const all = ["name", "turns.0.role", "turns.0.parts.0.type", "turns.0.parts.1", "turns.1", "labels.b"]
    assert.sameMembers(pathsOf(value), all)
    assert.isFalse(foundIn(value).mayBeMore)
  })

  const hostile: Readonly<Record<string, unknown>> = {
    "numbers for turns": { name: "a", turns: many(300_000, () => 0) },
    "empty turns": { name: "a", turns: many(100_000, () => ({})) },
    "lists for turns": { name: "a", turns: many(100_000, () => []) },
    "wrong parts": { name: "a", turns: [{ role: "user", parts: many(100_000, () => ({})) }] },
    "wrong parts in each of many turns": { name: "a", turns: many(9_999, () => ({ role: 1, parts: [1, 2, 3] })) },
    "wrong labels": { name: "a", turns: [sound], labels: Object.fromEntries(many(100_000, (at) => [`k${at}`, "x"])) },
    "unknown keys": { name: "a", turns: [sound], ...Object.fromEntries(many(100_000, (at) => [`k${at}`, "x"])) }
  }

  for (const [name, value] of Object.entries(hostile)) {
    it(`stops at fifty faults: ${name}`, () => {
      const text = JSON.stringify(value)
      const parseMs = durationOf(() => JSON.parse(text))
      const decodeMs = durationOf(() => decodeStrictly(value))
      const { listed, mayBeMore } = foundIn(value, decodeStrictly)
      assert.isAtLeast(listed.length, 1)
      assert.isAtMost(listed.length, 50)
      assert.isTrue(mayBeMore)
      // To collect every fault takes a hundred times as long as parsing; the floor is a collection of garbage.
      assert.isBelow(decodeMs, 10 * parseMs + 100)
    })
  }

  it("finds faults that stand behind many sound elements, at their places", () => {
    const wrong = {
      7_000: 1,
      7_001: { role: "nobody" },
      7_040: { role: "user", parts: [{ type: "text" }, { type: 2 }] }
    }
    const found = pathsOf({ name: "a", turns: turns(9_000, wrong) })
    assert.sameMembers(found, ["turns.7000", "turns.7001.role", "turns.7040.parts.1.type"])
  })

  it("names no fault that is not there: nothing is missing because it was cut", () => {
    const parts = many(5_000, (at) => (at === 4_000 ? {} : { type: "text" }))
    const value = { turns: [{ parts, role: "user" }, ...turns(3, {})], name: "a", labels: {} }
    assert.deepStrictEqual(pathsOf(value), ["turns.0.parts.4000.type"])
    const tooMany = { name: "a", turns: turns(10_001, {}) }
    assert.deepStrictEqual(pathsOf(tooMany), ["turns"])
  })

  it("keeps the places of short arrays, whose elements may differ by place", () => {
    const Marks = Schema.Struct({ pairs: Schema.Array(Schema.Tuple([Schema.Int, Schema.String])) })
    const pairs = many(2_000, (at) => [at, at === 1_500 ? 7 : "a"])
    assert.deepStrictEqual(pathsOf({ pairs }, boundedDecoder(Marks)), ["pairs.1500.1"])
  })

  it("names only true faults, whatever the value", () => {
    const kinds = [
      sound,
      { role: "user" },
      {},
      0,
      { role: 1 },
      { role: "user", parts: [{}] },
      { role: "user", parts: "a" }
    ]
    let seed = 7
    const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < 100; round += 1) {
      const rarely = next(400) + 1
      const list = many(next(3_000), () => kinds[next(rarely) === 0 ? next(kinds.length) : 0])
      const value = { ...(next(2) === 0 ? { name: "a" } : {}), turns: list, labels: { a: next(2) === 0 ? 1 : "x" } }
      const all = decodeAll(value)
      const { listed, mayBeMore } = foundIn(value)
      if (Result.isSuccess(all)) assert.isEmpty(listed)
      else {
        const texts = new Set(faultsOf(all.failure.issue).map(textOf))
        const found = pointedFaults({ listed, mayBeMore: false }).map(textOf)
        assert.isNotEmpty(found)
        assert.deepStrictEqual(
          found.filter((one) => !texts.has(one)),
          []
        )
        assert.strictEqual(new Set(found).size, found.length)
        if (!mayBeMore) assert.strictEqual(found.length, texts.size)
      }
    }
  })

  it("cuts long keys and says in JSON pointers that there may be more", () => {
    const decoded = decodeStrictly({ name: "a", turns: [sound], ["k".repeat(1_000_000)]: 1 })
    const faults = pointedFaults(Result.getOrThrow(Result.flip(decoded)))
    assert.deepStrictEqual(
      faults.map(({ path }) => path.length),
      [101]
    )
    const cut = pointedFaults(foundIn({ name: "a", turns: many(5_000, () => 0) }))
    assert.strictEqual(cut.length, 51)
    assert.include(cut.at(-1)?.message, "there may be more faults")
  })
})

/** The shortest of some. */
const durationOf = (act: () => unknown) => Math.min(...many(3, () => computed(act).processorMs))

const textOf = ({ path, message }: Fault) => `${path}: ${message}`

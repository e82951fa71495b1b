import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decodeToken, encodeToken, subjects } from "#base"
import { endpointIdOf, partitionOf } from "#webhooks/contract"

describe("a text as a token", () => {
  it.prop(
    "decodes to the original, and fits subjects and keys",
    [Schema.String.check(Schema.isMaxLength(60))],
    ([text]) => {
      if (!text.isWellFormed()) return assert.throws(() => encodeToken(text), RangeError)
      const token = encodeToken(text)
      assert.match(token, /^[A-Za-z0-9_=-]+$/u)
      return assert.strictEqual(decodeToken(token), text)
    }
  )

  it.prop("differs for different texts", [Schema.String, Schema.String], ([left, right]) => {
    if (!left.isWellFormed() || !right.isWellFormed() || left.length > 60 || right.length > 60) return
    assert.strictEqual(encodeToken(left) === encodeToken(right), left === right)
  })

  it.each([
    ["plain-id_7", "plain-id_7"],
    ["eip155:84532", "eip155=3a84532"],
    ["a.b.*.>", "a=2eb=2e=2a=2e=3e"],
    ["two words", "two=20words"],
    ["ü", "=c3=bc"],
    ["", "="]
  ])("writes %o as %s", (text, token) => {
    assert.strictEqual(encodeToken(text), token)
  })

  it.each(["=2", "a.b", "=zz", "=C3", "=61", "=ff", ""])("refuses %o, which encodes no text", (token) => {
    assert.throws(() => decodeToken(token))
  })

  it("refuses a text that is too long", () => {
    assert.throws(() => encodeToken("x".repeat(513)), RangeError)
  })
})

describe("an endpoint's id", () => {
  it("is the same for the same name, everywhere and always", () => {
    assert.strictEqual(endpointIdOf("demo"), "2ith0civ1tspi")
  })

  it.prop("is one short token and falls into a partition", [Schema.String], ([name]) => {
    if (!name.isWellFormed()) return
    const id = endpointIdOf(name)
    assert.match(id, /^[0-9a-z]{13}$/u)
    const partition = partitionOf(id, 32)
    assert.isTrue(Number.isInteger(partition) && partition >= 0 && partition < 32)
  })

  it("spreads ten thousand names evenly, no two alike", () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => endpointIdOf(`endpoint ${index}`))
    assert.strictEqual(new Set(ids).size, ids.length)
    const counts = Map.groupBy(ids, (id) => partitionOf(id, 32))
    for (const [, members] of counts) assert.isTrue(members.length > 200 && members.length < 430, `${members.length}`)
  })

  it("fits subjects unchanged", () => {
    assert.strictEqual(subjects.deliveries(0).due(3, "2ith0civ1tspi"), "deliveries.due.3.2ith0civ1tspi")
    assert.strictEqual(subjects.rejected("a.b"), "rejected.a=2eb")
  })
})

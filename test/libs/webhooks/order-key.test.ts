import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeEndpointSettings } from "#webhooks/contract"
import { exampleEnvelope } from "#base"
import { orderKey } from "#webhooks"

const envelope = {
  ...exampleEnvelope("work_item.merged"),
  details: { orderId: "7", "a/b": 1, lines: [{ id: true }], none: null }
}
const keyAt = (pointer: string, changed: object = {}) =>
  orderKey(pointer)({ entity: "work_item:1", envelope: { ...envelope, ...changed } as never })

describe("the key of an event", () => {
  it("is a digest of its entity, or of the text, number or boolean that the pointer finds", () => {
    for (const pointer of ["entity", "/details/orderId", "/details/a~1b", "/details/lines/0/id", "/event"])
      assert.match(keyAt(pointer) ?? "", /^[0-9a-f]{32}$/u, pointer)
    assert.notStrictEqual(keyAt("/details/orderId"), keyAt("/details/orderId", { details: { orderId: 7 } }))
    assert.strictEqual(keyAt("/details/orderId"), keyAt("/details/orderId", { details: { orderId: "7" } }))
  })

  it("is none where the pointer finds nothing, null, a list or an object, or there is no entity", () => {
    for (const pointer of [
      "/details/other",
      "/details/none",
      "/details/lines",
      "/details",
      "/details/lines/length",
      "/toString"
    ])
      assert.isUndefined(keyAt(pointer), pointer)
    assert.isUndefined(orderKey("entity")({ entity: undefined, envelope: envelope as never }))
  })
})

describe("OrderBy", () => {
  const rows: ReadonlyArray<readonly [orderBy: string, isValid: boolean]> = [
    ["entity", true],
    ["/details/orderId", true],
    ["/details/a~1b~0", true],
    ["", false],
    ["/", false],
    ["details/orderId", false],
    ["/details/a~2", false],
    ["Entity", false],
    [`/${"a".repeat(200)}`, false]
  ]
  for (const [orderBy, isValid] of rows)
    it(`${JSON.stringify(orderBy)} is ${isValid ? "taken" : "refused"}`, () => {
      const read = decodeEndpointSettings({ Name: "a", Url: "https://a.example/", OrderBy: orderBy })
      assert.strictEqual(Result.isSuccess(read), isValid)
    })
})

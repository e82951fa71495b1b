import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Delivery } from "#webhooks/contract"
import { deliveryHeader, dueDeliveryCodec } from "#webhooks"

const delivery: Delivery = {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  endpointId: "2ith0civ1tspi",
  event: "work_item.merged",
  schemaVersion: "1.1.0",
  sequence: 7,
  attempt: 1,
  storedAt: 1,
  dueAt: 2
}
const decode = (header: string | undefined) =>
  dueDeliveryCodec.decode({
    data: new Uint8Array([1]),
    header: (name) => (name === deliveryHeader ? header : undefined)
  })

describe("an encoded delivery", () => {
  it.each([delivery, { ...delivery, entity: "workItem:ü", redriveOf: delivery.deliveryId }])(
    "decodes to the original, its body untouched",
    (given) => {
      const encoded = dueDeliveryCodec.encode({ delivery: given, body: new Uint8Array([9, 8]) })
      const headers = new Map(encoded.headers)
      const decoded = dueDeliveryCodec.decode({ data: encoded.data, header: (name) => headers.get(name) })
      assert.deepStrictEqual(decoded, Result.succeed({ delivery: given, body: new Uint8Array([9, 8]) }))
    }
  )

  it("is read with what a later release adds to it", () => {
    const decoded = decode(JSON.stringify({ ...delivery, key: "k", added: { later: true } }))
    assert.deepStrictEqual(decoded, Result.succeed({ delivery: { ...delivery, key: "k" }, body: new Uint8Array([1]) }))
  })

  it.each([
    ["no header", undefined, ""],
    ["no JSON", "{", ""],
    ["a wrong attempt", JSON.stringify({ ...delivery, attempt: 0 }), "/attempt"],
    ["a wrong id", JSON.stringify({ ...delivery, deliveryId: "x" }), "/deliveryId"]
  ])("is refused with the fault's path when it has %s", (_what, header, path) => {
    const decoded = decode(header)
    assert.isTrue(Result.isFailure(decoded))
    if (Result.isFailure(decoded)) assert.strictEqual(decoded.failure[0]?.path, path)
  })
})

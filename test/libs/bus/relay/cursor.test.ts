import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { relayRecordCodec } from "#bus"

const codec = relayRecordCodec(Schema.Struct({ position: Schema.Int }))
const read = (value: unknown) =>
  codec.decode({ data: new TextEncoder().encode(JSON.stringify(value)), header: () => undefined })

describe("a relay's cursor", () => {
  it("is read back with the messages that may be unpublished", () => {
    const record = {
      cursor: { position: 7 },
      pending: [{ subject: "deliveries.due.0.a", headers: [["Nats-Msg-Id", "1"] as const], dataBase64: "AQ==" }]
    }
    const { data } = codec.encode(record)
    assert.deepStrictEqual(codec.decode({ data, header: () => undefined }), Result.succeed(record))
  })

  it("of a stopped relay says so, and other fields are ignored", () => {
    const record = { cursor: { position: 7 }, pending: [], handedOver: true }
    assert.deepStrictEqual(read(record), Result.succeed(record))
    assert.deepStrictEqual(read({ ...record, ofALaterFleet: 1 }), Result.succeed(record))
  })

  it("of an older fleet, a bare sequence, is continued", () => {
    assert.deepStrictEqual(read({ position: 7 }), Result.succeed({ cursor: { position: 7 }, pending: [] }))
  })

  it("is refused with the paths of its faults when it is neither", () => {
    const read7 = read({ cursor: { position: "seven" }, pending: [] })
    assert.deepStrictEqual(Result.isFailure(read7) && read7.failure.map(({ path }) => path), ["/cursor/position"])
  })
})

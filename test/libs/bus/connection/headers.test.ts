import { assert, describe, it } from "@effect/vitest"
import type { MsgHdrsImpl } from "@nats-io/nats-core/internal"
import { headers as made } from "@nats-io/nats-core"
import { readHeaders } from "../../../../libs/bus/connection/headers.ts"
import { diceOf } from "../../../support/random-ssml.ts"

const read = (text: string) => readHeaders(Buffer.from(text, "latin1"))
const fields = (headers: MsgHdrsImpl) => Object.fromEntries(headers)

describe("the headers of a message", () => {
  it("are those that its publisher set, each value in its order", () => {
    const sent = made()
    sent.append("Nats-Msg-Id", "a")
    sent.append("traceparent", "00-1")
    sent.append("traceparent", "00-2")
    assert.deepStrictEqual(fields(readHeaders((sent as MsgHdrsImpl).encode())), {
      "Nats-Msg-Id": ["a"],
      traceparent: ["00-1", "00-2"]
    })
  })

  it.each([
    ["NATS/1.0 404 No Messages\r\n\r\n", 404, "No Messages"],
    ["NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 3\r\n\r\n", 100, "Idle Heartbeat"],
    ["NATS/1.0 503\r\n\r\n", 503, ""],
    ["NATS/1.0\r\n\r\n", 0, ""],
    ["NATS/1.0 x\r\n\r\n", 0, ""]
  ])("tell the status in %j", (text, code, description) => {
    const headers = read(text)
    assert.deepStrictEqual([headers.code, headers.description], [code, description])
  })

  it.each([
    ["a blank within the name", "bad key: v"],
    ["a blank before the colon", "bad : v"],
    ["a tab", "bad\tkey: v"],
    ["a zero byte", "bad\0key: v"],
    ["a letter beyond ASCII", "b\xe4d: v"],
    ["no name", ": v"],
    ["no colon", "bad"],
    ["a return within the value", "bad: a\rb"],
    ["a line feed within the value", "bad: a\nb"]
  ])("leave out a line with %s, and keep the others", (_, line) =>
    assert.deepStrictEqual(fields(read(`NATS/1.0\r\nfirst: 1\r\n${line}\r\nlast: 2\r\n\r\n`)), {
      first: ["1"],
      last: ["2"]
    })
  )

  it.each([1, 2, 3, 4])("never throw, whatever the bytes (seed %i)", (seed) => {
    const dice = diceOf(seed)
    for (let round = 0; round < 500; round += 1) {
      const bytes = Uint8Array.from({ length: dice.below(200) }, () => dice.below(256))
      for (const [, values] of readHeaders(Buffer.concat([Buffer.from("NATS/1.0"), bytes]))) {
        assert.isTrue(values.every((value) => !/[\r\n]/u.test(value)))
      }
    }
  })
})

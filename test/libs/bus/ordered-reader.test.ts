import { assert, describe, it } from "@effect/vitest"
import { deliveryOf } from "../../../libs/bus/ordered-reader.ts"

describe("a message's position", () => {
  const stands = { streamSequence: 41, deliverySequence: 7, storedAtMs: 1_700_000_000_123, pending: 3 }

  it.each([
    ["as brokers before 2.15 say it", "$JS.ACK.LOG.reader.1.41.7.1700000000123000000.3"],
    ["with domain and account", "$JS.ACK._.A1B2C3.LOG.reader.1.41.7.1700000000123000000.3"],
    ["with a token more", "$JS.ACK.hub.A1B2C3.LOG.reader.1.41.7.1700000000123000000.3.x9Yz"]
  ])("is read %s", (_, subject) => assert.deepStrictEqual(deliveryOf(subject), stands))

  it.each([
    ["", "no subject"],
    ["_INBOX.a.b.1", "an inbox"],
    ["$JS.ACK.LOG.reader", "cut short"],
    ["$JS.ACK.LOG.reader.1.x.7.1700000000123000000.3", "no number"],
    ["$JS.ACK.LOG.reader.1.41.0.1700000000123000000.3", "before the first"],
    ["$JS.ACK.LOG.reader.1.41.7.1700000000123000000.x", "nobody knows how many more"]
  ])("is absent in %s: %s", (subject) => assert.isUndefined(deliveryOf(subject)))
})

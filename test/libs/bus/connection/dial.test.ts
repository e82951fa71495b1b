import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { brokerTls } from "#bus"
import { lineLogger } from "#runtime"
import { reportTrouble } from "../../../../libs/bus/connection/dial.ts"

describe("the connection to the broker", () => {
  it("is encrypted or refused when one of the servers is named with tls", () => {
    assert.deepStrictEqual(brokerTls(["nats://a:4222", " TLS://b:4222"]), {})
  })

  it("is encrypted or refused when a TLS file is named, whatever the servers' scheme", () => {
    assert.deepStrictEqual(brokerTls(["nats://a:4222"], { caFile: "ca.crt" }), { caFile: "ca.crt" })
    assert.deepStrictEqual(brokerTls(["nats://a"], { certificateFile: "me.crt", keyFile: "me.key" }), {
      certFile: "me.crt",
      keyFile: "me.key"
    })
  })

  it("follows the broker's wish otherwise", () => {
    assert.isUndefined(brokerTls(["nats://a:4222", "b:4222"], { caFile: undefined }))
  })
})

it.effect(
  "trouble with a connection is logged when it is new, and again every half minute; a caller hears each time",
  () => {
    const lines: Array<string> = []
    const heard: Array<string> = []
    return Effect.gen(function* () {
      const report = reportTrouble("no broker", (reason) => void heard.push(reason))
      const said: Array<number> = []
      for (const [afterMs, reason] of [
        [0, "refused"],
        [29_999, "refused"],
        [1, "refused"],
        [1, "no route"],
        [1, "no route"],
        [1, "refused"]
      ] as const) {
        yield* TestClock.adjust(afterMs)
        yield* report(reason)
        said.push(lines.length)
      }
      assert.deepStrictEqual(said, [1, 1, 2, 3, 3, 4])
      assert.lengthOf(heard, 6)
    }).pipe(Effect.provide(Logger.layer([lineLogger("json", (line) => void lines.push(line))])))
  }
)

import { assert, describe, it } from "@effect/vitest"
import { brokerTls } from "#bus"

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

import { assert, describe, it } from "@effect/vitest"
import { brokerTls } from "#bus"

describe("the way to the broker", () => {
  it("is encrypted or not taken when one of the servers is named with tls", () => {
    assert.deepStrictEqual(brokerTls(["nats://a:4222", " TLS://b:4222"]), {})
  })

  it("is encrypted or not taken when a file of TLS is named, whatever the servers are called", () => {
    assert.deepStrictEqual(brokerTls(["nats://a:4222"], { caFile: "ca.crt" }), { caFile: "ca.crt" })
    assert.deepStrictEqual(brokerTls(["nats://a"], { certificateFile: "me.crt", keyFile: "me.key" }), {
      certFile: "me.crt",
      keyFile: "me.key"
    })
  })

  it("is as the broker wants it otherwise", () => {
    assert.isUndefined(brokerTls(["nats://a:4222", "b:4222"], { caFile: undefined }))
  })
})

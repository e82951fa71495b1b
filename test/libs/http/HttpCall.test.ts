import { assert, describe, it } from "@effect/vitest"
import { addressGroup, remoteAddressOf, requestIdOf } from "../../../libs/http/HttpCall.ts"

describe("the facts of a request", () => {
  it("keep an id of up to 128 visible characters, and nothing else", () => {
    assert.strictEqual(requestIdOf("a~!".repeat(42)), "a~!".repeat(42))
    for (const unfit of [undefined, "", "a b", "é", "x".repeat(129), "a\n"]) {
      assert.match(requestIdOf(unfit), /^req_[\w-]{36}$/u)
    }
  })

  it("trust only our own proxies", () => {
    const forwarded = "6.6.6.6, 1.1.1.1, 2.2.2.2"
    assert.strictEqual(remoteAddressOf("::ffff:9.9.9.9", forwarded, 0), "9.9.9.9")
    assert.strictEqual(remoteAddressOf("9.9.9.9", forwarded, 1), "2.2.2.2")
    assert.strictEqual(remoteAddressOf("9.9.9.9", forwarded, 2), "1.1.1.1")
    assert.strictEqual(remoteAddressOf("9.9.9.9", undefined, 2), "9.9.9.9")
  })

  it("group the addresses of one household", () => {
    assert.strictEqual(addressGroup("1.2.3.4"), "1.2.3.4")
    assert.strictEqual(addressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64")
    assert.strictEqual(addressGroup("2001:db8::6"), "2001:db8:0:0::/64")
    assert.strictEqual(addressGroup("::1"), "0:0:0:0::/64")
  })
})

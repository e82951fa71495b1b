import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration } from "#configuration"

const faultOf = (bus: unknown) =>
  Result.match(decodeConfiguration({ Bus: bus }), {
    onSuccess: () => undefined,
    onFailure: ([fault]) => fault
  })

const refused: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, string]> = [
  ["a certificate without its key", { TlsCertificateFile: "a.crt" }, "come together"],
  ["a key without its certificate", { TlsKeyFile: "a.key" }, "come together"],
  ["an encrypted server by its address", { Url: "tls://10.0.0.1:4222" }, "go by a name"],
  ["one such among others", { Url: "tls://a:4222,nats://[::1]:4222" }, "go by a name"],
  ["an authority for a server by its address", { Url: "nats://10.0.0.1", TlsCaFile: "ca.crt" }, "go by a name"]
]

describe("the section Bus", () => {
  it.each(refused)("refuses %s", (_, bus, reason) => {
    const fault = faultOf(bus)
    assert.strictEqual(fault?.path, "Bus")
    assert.include(fault?.message, reason)
  })

  it.each([
    { Url: "tls://nats.starling.svc:4222", TlsCaFile: "ca.crt" },
    { Url: "tls://a:4222, tls://b:4222", TlsCertificateFile: "a.crt", TlsKeyFile: "a.key" },
    { Url: "nats://127.0.0.1:4222" },
    {}
  ])("accepts %j", (bus) => {
    assert.isUndefined(faultOf(bus))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import ipaddr from "ipaddr.js"
import { addressGuard, refusedRanges } from "#egress"

const closed = addressGuard([])
const verdict = (address: string, allow: ReadonlyArray<string> = []) => {
  const judged = addressGuard(allow).judge(address)
  return judged._tag === "Allowed" ? "allowed" : judged.range
}

describe("the address guard", () => {
  it.each([
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["0.0.0.0", "this network"],
    ["10.1.2.3", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.0.1", "private"],
    ["100.64.0.1", "carrier-grade NAT"],
    ["169.254.169.254", "link-local"],
    ["168.63.129.16", "Azure wire server"],
    ["192.0.0.8", "IETF protocol assignments"],
    ["198.18.0.1", "benchmarking"],
    ["198.51.100.7", "documentation"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "reserved"],
    ["::1", "IPv4-compatible"],
    ["::", "IPv4-compatible"],
    ["::7f00:1", "IPv4-compatible"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["::ffff:a9fe:a9fe", "link-local"],
    ["64:ff9b::7f00:1", "NAT64"],
    ["64:ff9b:1::1", "local NAT64"],
    ["2002:7f00:1::", "6to4"],
    ["2001::1", "IETF protocol assignments"],
    ["2001:db8::1", "documentation"],
    ["fd00:ec2::254", "unique local"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["3fff::1", "documentation"],
    ["5f00::1", "segment routing"],
    ["100::1", "discard-only"],
    ["not an address", "not an address"]
  ])("refuses %s as %s", (address, range) => assert.strictEqual(verdict(address), range))

  it.each(["1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.0", "2606:4700:4700::1111", "::ffff:1.1.1.1"])(
    "allows %s",
    (address) => assert.strictEqual(verdict(address), "allowed")
  )

  it("opens exactly the configured networks, in any spelling of an address", () => {
    assert.strictEqual(verdict("127.0.0.1", ["127.0.0.0/8"]), "allowed")
    assert.strictEqual(verdict("::ffff:127.0.0.1", ["127.0.0.0/8"]), "allowed")
    assert.strictEqual(verdict("10.0.0.1", ["127.0.0.0/8"]), "private")
    assert.strictEqual(verdict("10.0.0.7", ["10.0.0.7/32"]), "allowed")
    assert.strictEqual(verdict("10.0.0.8", ["10.0.0.7/32"]), "private")
    assert.strictEqual(verdict("fd00::5", ["fd00::/8"]), "allowed")
    assert.strictEqual(verdict("::1", ["127.0.0.0/8"]), "IPv4-compatible")
  })

  it("names each of its ranges with a readable network", () => {
    for (const { cidr } of refusedRanges) assert.doesNotThrow(() => ipaddr.parseCIDR(cidr), cidr)
  })

  const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
  const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))

  // Two differences are known and wanted: the Azure wire server, and the deprecated IPv4-compatible form.
  const isPublic = (address: string) => {
    const parsed = ipaddr.process(address)
    return parsed.range() === "unicast" && address !== "168.63.129.16"
  }

  it.prop("agrees with an independent library on IPv4", [Schema.Tuple([Byte, Byte, Byte, Byte])], ([bytes]) => {
    const address = bytes.join(".")
    assert.strictEqual(closed.judge(address)._tag === "Allowed", isPublic(address), address)
  })

  it.prop(
    "agrees with an independent library on IPv6",
    [Schema.Tuple([Group, Group, Group, Group, Group, Group, Group, Group])],
    ([groups]) => {
      const address = groups.map((group) => group.toString(16)).join(":")
      const isCompatible = groups.slice(0, 6).every((group) => group === 0)
      assert.strictEqual(closed.judge(address)._tag === "Allowed", isPublic(address) && !isCompatible, address)
    }
  )
})

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
    ["64:ff9b::7f00:1", "loopback"],
    ["64:ff9b::169.254.169.254", "link-local"],
    ["64:ff9b::a00:1", "private"],
    ["64:ff9b:1::1", "local NAT64"],
    ["64:ff9b:1::8.8.8.8", "local NAT64"],
    ["64:ff9b:2::8.8.8.8", "reserved"],
    ["::ffff:0:127.0.0.1", "IPv4-translated"],
    ["::ffff:0:8.8.8.8", "IPv4-translated"],
    ["192.31.196.1", "AS112"],
    ["192.52.193.1", "AMT"],
    ["192.175.48.1", "AS112"],
    ["2620:4f:8000::1", "AS112"],
    ["100:0:0:1::1", "dummy"],
    ["2001:20::1", "ORCHID"],
    ["2001:1::1", "IETF protocol assignments"],
    ["4000::1", "reserved"],
    ["1fff::1", "reserved"],
    ["fe00::1", "reserved"],
    ["2002:7f00:1::", "6to4"],
    ["2001::1", "Teredo"],
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

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.0",
    "2606:4700:4700::1111",
    "2001:db7::1",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
    "64:ff9b::101:101"
  ])("allows %s", (address) => assert.strictEqual(verdict(address), "allowed"))

  it("opens exactly the configured networks, in any spelling of an address", () => {
    assert.strictEqual(verdict("127.0.0.1", ["127.0.0.0/8"]), "allowed")
    assert.strictEqual(verdict("::ffff:127.0.0.1", ["127.0.0.0/8"]), "allowed")
    assert.strictEqual(verdict("10.0.0.1", ["127.0.0.0/8"]), "private")
    assert.strictEqual(verdict("10.0.0.7", ["10.0.0.7/32"]), "allowed")
    assert.strictEqual(verdict("10.0.0.8", ["10.0.0.7/32"]), "private")
    assert.strictEqual(verdict("fd00::5", ["fd00::/8"]), "allowed")
    assert.strictEqual(verdict("::1", ["127.0.0.0/8"]), "IPv4-compatible")
  })

  it.each([
    ["NAT64", "64:ff9b::/96", "64:ff9b::a9fe:a9fe", "link-local"],
    ["an IPv4-mapped address", "::ffff:0:0/96", "::ffff:a9fe:a9fe", "link-local"],
    ["an IPv4-translated address", "::ffff:0:0:0/96", "::ffff:0:a9fe:a9fe", "link-local"],
    ["an IPv4-compatible address", "::/96", "::a9fe:a9fe", "link-local"],
    ["6to4", "2002::/16", "2002:a9fe:a9fe::1", "link-local"],
    ["a Teredo server", "2001::/32", "2001:0:a00:1::1", "private"],
    ["a Teredo client", "2001::/32", "2001:0:808:808:0:0:5601:5601", "link-local"],
    ["local NAT64 of /48", "64:ff9b:1::/48", "64:ff9b:1:a9fe:a9:fe00::", "link-local"],
    ["local NAT64 of /56", "64:ff9b:1::/48", "64:ff9b:1:5a9:fe:a9fe::", "link-local"],
    ["local NAT64 of /64", "64:ff9b:1::/48", "64:ff9b:1:5:a9:fea9:fe00:0", "link-local"],
    ["local NAT64 of /96", "64:ff9b:1::/48", "64:ff9b:1:5:6:7:a9fe:a9fe", "link-local"],
    ["local NAT64 of /96", "64:ff9b:1:5:6:7::/96", "64:ff9b:1:5:6:7:7f00:1", "loopback"],
    ["everything", "::/0", "64:ff9b::a9fe:a9fe", "link-local"],
    ["everything", "::/0", "2002:7f00:1::", "loopback"]
  ])("still refuses the IPv4 address inside where %s is opened", (_what, cidr, address, range) => {
    assert.strictEqual(verdict(address, [cidr]), range)
  })

  it.each([
    ["64:ff9b::a00:1", "10.0.0.0/8"],
    ["::ffff:a00:1", "10.0.0.0/8"],
    ["::1", "::1/128"],
    ["::", "::/128"],
    ["2002:808:808::1", "2002::/16"],
    ["2001:0:808:808:0:0:f7f7:f7f7", "2001::/32"],
    ["64:ff9b:1:808:8:800::", "64:ff9b:1::/48"],
    ["64:ff9b:1::8.8.8.8", "64:ff9b:1::/48"],
    ["fd00::a9fe:a9fe", "fd00::/8"]
  ])("takes %s where %s is opened", (address, cidr) => assert.strictEqual(verdict(address, [cidr]), "allowed"))

  it("says that an address is refused for the IPv4 address inside, by its network", () => {
    assert.deepInclude(closed.judge("64:ff9b::a9fe:a9fe"), { range: "link-local", cidr: "169.254.0.0/16" })
  })

  it("names each of its ranges with a readable network, and none is hidden by a wider one before it", () => {
    for (const { cidr, name } of refusedRanges) {
      assert.doesNotThrow(() => ipaddr.parseCIDR(cidr), cidr)
      assert.include(
        edgesOf(cidr).map((address) => verdict(address)),
        name,
        cidr
      )
    }
  })

  it("refuses all that IANA has reserved for special purposes, to the last address", () => {
    for (const cidr of registered) {
      for (const address of edgesOf(cidr)) assert.notStrictEqual(verdict(address), "allowed", `${address} of ${cidr}`)
    }
  })

  it("agrees with an independent library at the edges of each of its ranges and of ours", () => {
    const library = [new ipaddr.IPv4([1, 1, 1, 1]), ipaddr.IPv6.parse("2606::")].flatMap((address) => {
      const ranges = Object.values((address as unknown as { SpecialRanges: Record<string, unknown> }).SpecialRanges)
      return ranges.flatMap(
        (one) => (Array.isArray((one as Array<unknown>)[0]) ? one : [one]) as Array<[string, number]>
      )
    })
    const cidrs = [
      ...library.map(([address, bits]) => `${String(address)}/${bits}`),
      ...refusedRanges.map(({ cidr }) => cidr)
    ]
    assert.isAbove(library.length, 30)
    for (const address of cidrs.flatMap((cidr) => [...edgesOf(cidr), ...neighboursOf(cidr)])) {
      assert.strictEqual(closed.judge(address)._tag === "Allowed", isPublic(address), address)
    }
  })

  const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
  const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))

  it.prop("agrees with an independent library on IPv4", [Schema.Tuple([Byte, Byte, Byte, Byte])], ([bytes]) => {
    const address = bytes.join(".")
    assert.strictEqual(closed.judge(address)._tag === "Allowed", isPublic(address), address)
    assert.strictEqual(verdict(`64:ff9b::${address}`), verdict(address), address)
    assert.strictEqual(verdict(`::ffff:${address}`), verdict(address), address)
  })

  it.prop(
    "agrees with an independent library on IPv6",
    [Schema.Tuple([Group, Group, Group, Group, Group, Group, Group, Group])],
    ([groups]) => {
      const address = groups.map((group) => group.toString(16)).join(":")
      assert.strictEqual(closed.judge(address)._tag === "Allowed", isPublic(address), address)
    }
  )
})

/** By the library, and three wanted differences: Azure's wire server, NAT64, and what is outside of 2000::/3. */
const isPublic = (address: string): boolean => {
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast" && address !== "168.63.129.16"
  const bytes = parsed.toByteArray()
  if (parsed.match(ipaddr.IPv6.parse("64:ff9b::"), 96)) return isPublic(bytes.slice(12).join("."))
  const isDummy = parsed.match(ipaddr.IPv6.parse("100:0:0:1::"), 64)
  return parsed.range() === "unicast" && (bytes[0] ?? 0) >> 5 === 1 && !isDummy
}

const bytesOf = (cidr: string) => {
  const [address, bits] = ipaddr.parseCIDR(cidr)
  return { bytes: address.toByteArray(), bits, text: (bytes: Array<number>) => ipaddr.fromByteArray(bytes).toString() }
}

/** The first and the last address of a network. */
const edgesOf = (cidr: string): readonly [string, string] => {
  const { bytes, bits, text } = bytesOf(cidr)
  const last = bytes.map((byte, index) => byte | (255 >> Math.min(8, Math.max(0, bits - index * 8))))
  return [text(bytes), text(last)]
}

/** The addresses before and after a network, as far as there are such. */
const neighboursOf = (cidr: string): ReadonlyArray<string> => {
  const { bytes, text } = bytesOf(cidr)
  const value = (list: ReadonlyArray<number>) => list.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const list = (number: bigint) =>
    bytes.map((_, index) => Number((number >> BigInt(8 * (bytes.length - 1 - index))) & 255n))
  const [first, last] = edgesOf(cidr).map((address) => value(ipaddr.parse(address).toByteArray()))
  const all = 1n << BigInt(8 * bytes.length)
  return [(first ?? 0n) - 1n, (last ?? 0n) + 1n].flatMap((one) => (one >= 0n && one < all ? [text(list(one))] : []))
}

/**
 * The address blocks of the IANA special-purpose address registries, as they are printed there, but for 64:ff9b::/96 and
 * ::ffff:0:0/96: those stand for an IPv4 address.
 */
const registered = `
  0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29
  192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24
  192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
  255.255.255.255/32
  ::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128
  2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16
  2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10`
  .trim()
  .split(/\s+/u)

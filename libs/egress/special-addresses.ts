/**
 * Addresses that a public receiver cannot have, by range, and the IPv4 addresses embedded in some IPv6 addresses. The
 * table follows the IANA special-purpose registries (https://www.iana.org/assignments/iana-ipv4-special-registry and
 * iana-ipv6-special-registry), the address space registries beside them, and ranges that clouds use for themselves.
 * Those that IANA calls globally reachable serve protocols: no receiver is there. Pure.
 */

export interface AddressRange {
  readonly name: string
  readonly cidr: string
  readonly source: string
}

const range = (cidr: string, name: string, source: string): AddressRange => ({ name, cidr, source })

/** The first range that contains an address names it, so narrow ones come before wide ones. */
export const refusedRanges: ReadonlyArray<AddressRange> = [
  range("0.0.0.0/8", "this network", "RFC 791"),
  range("10.0.0.0/8", "private", "RFC 1918"),
  range("100.64.0.0/10", "carrier-grade NAT", "RFC 6598"),
  range("127.0.0.0/8", "loopback", "RFC 1122"),
  range("168.63.129.16/32", "Azure wire server", "Microsoft"),
  range("169.254.0.0/16", "link-local", "RFC 3927"),
  range("172.16.0.0/12", "private", "RFC 1918"),
  range("192.0.0.0/24", "IETF protocol assignments", "RFC 6890"),
  range("192.0.2.0/24", "documentation", "RFC 5737"),
  range("192.31.196.0/24", "AS112", "RFC 7535"),
  range("192.52.193.0/24", "AMT", "RFC 7450"),
  range("192.88.99.0/24", "6to4 relay", "RFC 7526"),
  range("192.168.0.0/16", "private", "RFC 1918"),
  range("192.175.48.0/24", "AS112", "RFC 7534"),
  range("198.18.0.0/15", "benchmarking", "RFC 2544"),
  range("198.51.100.0/24", "documentation", "RFC 5737"),
  range("203.0.113.0/24", "documentation", "RFC 5737"),
  range("224.0.0.0/4", "multicast", "RFC 5771"),
  range("240.0.0.0/4", "reserved", "RFC 1112"),
  range("::/96", "IPv4-compatible", "RFC 4291"),
  range("::ffff:0:0:0/96", "IPv4-translated", "RFC 2765"),
  range("64:ff9b:1::/48", "local NAT64", "RFC 8215"),
  range("100::/64", "discard-only", "RFC 6666"),
  range("100:0:0:1::/64", "dummy", "RFC 9780"),
  range("2001::/32", "Teredo", "RFC 4380"),
  range("2001:2::/48", "benchmarking", "RFC 5180"),
  range("2001:3::/32", "AMT", "RFC 7450"),
  range("2001:4:112::/48", "AS112", "RFC 7535"),
  range("2001:10::/28", "ORCHID", "RFC 4843"),
  range("2001:20::/28", "ORCHID", "RFC 7343"),
  range("2001:30::/28", "drone remote id", "RFC 9374"),
  range("2001::/23", "IETF protocol assignments", "RFC 2928"),
  range("2001:db8::/32", "documentation", "RFC 3849"),
  range("2002::/16", "6to4", "RFC 3056"),
  range("2620:4f:8000::/48", "AS112", "RFC 7534"),
  range("3fff::/20", "documentation", "RFC 9637"),
  range("5f00::/16", "segment routing", "RFC 9602"),
  range("fc00::/7", "unique local", "RFC 4193"),
  range("fe80::/10", "link-local", "RFC 4291"),
  range("fec0::/10", "site-local", "RFC 3879"),
  range("ff00::/8", "multicast", "RFC 4291"),
  // Nothing outside 2000::/3 is allocated.
  range("::/3", "reserved", "RFC 4291"),
  range("4000::/2", "reserved", "RFC 4291"),
  range("8000::/1", "reserved", "RFC 4291")
]

type Words = ReadonlyArray<number>

interface EmbeddedAddresses {
  /** The IPv4 address that this one stands for; only that one is judged. */
  readonly instead?: string
  /** IPv4 addresses that it may lead to: opening its network does not open theirs. */
  readonly also: ReadonlyArray<string>
}

/** The IPv4 addresses within an IPv6 address, as `URL` spells it. */
export const embeddedIn = (spelled: string): EmbeddedAddresses => {
  const words = wordsOf(spelled)
  const begins = (...first: Words) => first.every((word, index) => words[index] === word)
  const last = ipv4Of(words, 96)
  if (begins(0, 0, 0, 0, 0, 0xffff) || begins(0x64, 0xff9b, 0, 0, 0, 0)) return { instead: last, also: [] }
  if (begins(0, 0, 0, 0, 0xffff, 0) || begins(0, 0, 0, 0, 0, 0)) return leadsTo([last])
  // Its prefix can have any length of RFC 6052 from 48 on, and all bits after the address are zero.
  if (begins(0x64, 0xff9b, 1)) return leadsTo(translatedBy(words))
  if (begins(0x2002)) return leadsTo([ipv4Of(words, 16)])
  // Teredo: the server's address, and the client's with every bit inverted.
  const turned = words.map((word) => word ^ 0xffff)
  return begins(0x2001, 0) ? leadsTo([ipv4Of(words, 32), ipv4Of(turned, 96)]) : { also: [] }
}

// A gateway sends nothing to an address of 0.0.0.0/8: `::1` and an unused field contain one.
const leadsTo = (found: ReadonlyArray<string>): EmbeddedAddresses => ({
  also: found.filter((address) => !address.startsWith("0."))
})

const translatedBy = (words: Words) => {
  const bytes = bytesOf(words)
  return [48, 56, 64, 96].flatMap((bits) => {
    const places = [0, 1, 2, 3]
      .map((index) => bits / 8 + index)
      .map((place) => (bits < 96 && place >= 8 ? place + 1 : place))
    const end = Math.max(...places) + 1
    const isOne = (bits === 96 || bytes[8] === 0) && bytes.slice(end).every((byte) => byte === 0)
    return isOne ? [places.map((place) => bytes[place]).join(".")] : []
  })
}

const ipv4Of = (words: Words, bit: number) =>
  bytesOf(words)
    .slice(bit / 8, bit / 8 + 4)
    .join(".")
const bytesOf = (words: Words) => words.flatMap((word) => [word >> 8, word & 255])

const wordsOf = (spelled: string): Words => {
  const [before = "", after] = spelled.split("::").map((half) => half.split(":").filter((word) => word !== ""))
  const parsed = (half: ReadonlyArray<string> | "") => [...half].map((word) => Number.parseInt(word, 16))
  const [first, last] = [parsed(before), parsed(after ?? [])]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

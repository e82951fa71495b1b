/**
 * The address guard makes connections, and checks three times: a literal address before anything else, every address
 * that a name resolves to (only allowed ones are tried), and the address that the socket really has. A connection stays
 * pinned to its address for its life, so that a later change of the name has no effect.
 */
import { lookup as systemLookup } from "node:dns"
import { BlockList, isIP, type LookupFunction, type Socket } from "node:net"
import { Context, Data } from "effect"
import { buildConnector } from "undici"
import { AddressRefused } from "./errors.ts"

interface ConnectorOptions {
  /** Without one nothing is guarded. */
  readonly guard: AddressGuard | undefined
  readonly resolve: Resolve
  readonly connectTimeoutMs: number
  readonly onOpened: () => void
  readonly onRefused: (range: string) => void
  /** PEM certificates that are trusted, in place of the system's. */
  readonly trusted?: string | undefined
  /** Our own certificate and its key, as PEM, for servers that ask for one. */
  readonly identity?: TlsIdentity | undefined
}

export interface TlsIdentity {
  readonly cert: string
  readonly key: string
}

export const guardedConnector = (options: ConnectorOptions): buildConnector.connector => {
  const { guard, resolve, onOpened, onRefused } = options

  const refusalOf = (host: string, address: string) => {
    const verdict = guard?.judge(address)
    if (verdict?._tag !== "Refused") return undefined
    onRefused(verdict.range)
    return new AddressRefused({ host, address, range: verdict.range, cidr: verdict.cidr })
  }

  const lookup: LookupFunction = (host, _options, done) => {
    resolve(host, (error, addresses) => {
      if (error !== null) return done(error, [])
      const judged = addresses.map((found) => ({ found, refusal: refusalOf(host, found.address) }))
      const allowed = judged.filter(({ refusal }) => refusal === undefined).map(({ found }) => found)
      const refusal = judged[0]?.refusal
      if (allowed.length === 0 && refusal !== undefined) return done(refusal, [])
      if (allowed.length === 0) return done(Object.assign(new Error(`${host} has no address`), { code: "ENODATA" }), [])
      return done(null, allowed as Array<{ address: string; family: number }>)
    })
  }

  const connect = buildConnector({
    lookup,
    timeout: options.connectTimeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    ...(options.trusted === undefined ? {} : { ca: options.trusted }),
    ...options.identity
  })

  return (target, done) => {
    const host = target.hostname.replace(/^\[|\]$/gu, "")
    const literal = isIP(host) === 0 ? undefined : refusalOf(host, host)
    if (literal !== undefined) return done(literal, null)
    connect(target, (error, socket) => {
      if (error !== null) return done(error, null)
      const refusal = refusalOf(host, (socket as Socket).remoteAddress ?? "")
      if (refusal !== undefined) {
        socket.destroy()
        return done(refusal, null)
      }
      onOpened()
      return done(null, socket)
    })
  }
}

type Verdict = Data.TaggedEnum<{
  Allowed: {}
  Refused: { readonly range: string; readonly cidr: string }
}>
const Verdict = Data.taggedEnum<Verdict>()

interface AddressGuard {
  readonly judge: (address: string) => Verdict
}

interface Network {
  readonly name: string
  readonly cidr: string
  readonly holds: (address: string) => boolean
}

/** Networks of `allowCidrs` that cannot be read. */
export const invalidCidrs = (allowCidrs: ReadonlyArray<string>) =>
  allowCidrs.filter((cidr) => parse(cidr) === undefined)

/**
 * An address in a refused range is refused unless the deployment allows a network that contains it; an IPv4 address
 * written inside an IPv6 one (`::ffff:a.b.c.d`) counts as the IPv4 address it is. Pure.
 */
export const addressGuard = (allowCidrs: ReadonlyArray<string>): AddressGuard => {
  const allowed = allowCidrs.map((cidr) => network("allowed", cidr))
  const refused = refusedRanges.map(({ name, cidr }) => network(name, cidr))
  return {
    judge: (given) => {
      const address = unmapped(given)
      if (isIP(address) === 0) return Verdict.Refused({ range: "not an address", cidr: given })
      if (allowed.some((range) => range.holds(address))) return Verdict.Allowed()
      const found = refused.find((range) => range.holds(address))
      return found === undefined ? Verdict.Allowed() : Verdict.Refused({ range: found.name, cidr: found.cidr })
    }
  }
}

const network = (name: string, cidr: string): Network => {
  const parsed = parse(cidr)
  if (parsed === undefined) return { name, cidr, holds: () => false }
  const list = new BlockList()
  list.addSubnet(parsed.address, parsed.bits, parsed.family)
  return { name, cidr, holds: (address) => family(address) === parsed.family && list.check(address, parsed.family) }
}

const parse = (cidr: string) => {
  const [address = "", bitsText = ""] = cidr.split("/")
  const bits = Number(bitsText)
  const isWhole = /^\d{1,3}$/u.test(bitsText) && bits <= (isIP(address) === 6 ? 128 : 32)
  return isIP(address) !== 0 && isWhole ? { address, bits, family: family(address) } : undefined
}

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

// Every spelling of a mapped address, the hexadecimal one included, becomes the plain IPv4 address.
const unmapped = (given: string): string => {
  const address = given.replace(/^\[|\]$/gu, "").replace(/%.*$/u, "")
  if (isIP(address) !== 6) return address
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/u.exec(spelled)
  if (hex === null) return spelled
  const [high, low] = [hex[1], hex[2]].map((part) => Number.parseInt(part ?? "0", 16))
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join(".")
}

interface AddressRange {
  readonly name: string
  readonly cidr: string
}

/**
 * Address ranges that a public receiver cannot have, by name. From the IANA special-purpose registries for IPv4 and
 * IPv6, and from the clouds: such an address leads to this machine, its network or its provider.
 */
export const refusedRanges: ReadonlyArray<AddressRange> = [
  { name: "this network", cidr: "0.0.0.0/8" },
  { name: "private", cidr: "10.0.0.0/8" },
  { name: "carrier-grade NAT", cidr: "100.64.0.0/10" },
  { name: "loopback", cidr: "127.0.0.0/8" },
  { name: "Azure wire server", cidr: "168.63.129.16/32" },
  { name: "link-local", cidr: "169.254.0.0/16" },
  { name: "private", cidr: "172.16.0.0/12" },
  { name: "IETF protocol assignments", cidr: "192.0.0.0/24" },
  { name: "documentation", cidr: "192.0.2.0/24" },
  { name: "6to4 relay", cidr: "192.88.99.0/24" },
  { name: "private", cidr: "192.168.0.0/16" },
  { name: "benchmarking", cidr: "198.18.0.0/15" },
  { name: "documentation", cidr: "198.51.100.0/24" },
  { name: "documentation", cidr: "203.0.113.0/24" },
  { name: "multicast", cidr: "224.0.0.0/4" },
  { name: "reserved", cidr: "240.0.0.0/4" },
  { name: "IPv4-compatible", cidr: "::/96" },
  { name: "NAT64", cidr: "64:ff9b::/96" },
  { name: "local NAT64", cidr: "64:ff9b:1::/48" },
  { name: "discard-only", cidr: "100::/64" },
  { name: "IETF protocol assignments", cidr: "2001::/23" },
  { name: "documentation", cidr: "2001:db8::/32" },
  { name: "6to4", cidr: "2002::/16" },
  { name: "documentation", cidr: "3fff::/20" },
  { name: "segment routing", cidr: "5f00::/16" },
  { name: "unique local", cidr: "fc00::/7" },
  { name: "link-local", cidr: "fe80::/10" },
  { name: "site-local", cidr: "fec0::/10" },
  { name: "multicast", cidr: "ff00::/8" }
]

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: ReadonlyArray<ResolvedAddress>) => void
) => void

/** Resolves names to addresses: the system's resolver, except in tests. */
export const Resolver = Context.Reference<Resolve>("starling/egress/Resolver", {
  defaultValue: () => (host, done) =>
    systemLookup(host, { all: true, order: "verbatim" }, (error, addresses) =>
      done(error, (addresses ?? []) as ReadonlyArray<ResolvedAddress>)
    )
})

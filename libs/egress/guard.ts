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
import { heldIn, refusedRanges } from "./special-addresses.ts"

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
 * An address in a refused range is refused unless the deployment allows a network that contains it. An IPv6 address that
 * stands for an IPv4 one (`::ffff:a.b.c.d`, NAT64) counts as that one; one that may lead to an IPv4 address, as by 6to4,
 * is refused with it, whatever is allowed. Pure.
 */
export const addressGuard = (allowCidrs: ReadonlyArray<string>): AddressGuard => {
  const allowed = allowCidrs.map((cidr) => network("allowed", cidr))
  const refused = refusedRanges.map(({ name, cidr }) => network(name, cidr))
  const judge = (given: string): Verdict => {
    const address = spelledOut(given)
    const { instead, beside } = isIP(address) === 6 ? heldIn(address) : { beside: [] }
    if (instead !== undefined) return judge(instead)
    if (isIP(address) === 0) return Verdict.Refused({ range: "not an address", cidr: given })
    if (!allowed.some((range) => range.holds(address))) {
      const found = refused.find((range) => range.holds(address))
      if (found !== undefined) return Verdict.Refused({ range: found.name, cidr: found.cidr })
    }
    return beside.map(judge).find(({ _tag }) => _tag === "Refused") ?? Verdict.Allowed()
  }
  return { judge }
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

// One spelling for each address, without brackets and zone.
const spelledOut = (given: string): string => {
  const address = given.replace(/^\[|\]$/gu, "").replace(/%.*$/su, "")
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

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

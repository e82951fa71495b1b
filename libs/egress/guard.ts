/** The address guard: which addresses can be called when outsiders choose the URL. Pure. */
import { BlockList, isIP } from "node:net"
import { Data } from "effect"
import { embeddedIn, refusedRanges } from "./special-addresses.ts"

type Verdict = Data.TaggedEnum<{
  Allowed: {}
  Refused: { readonly range: string; readonly cidr: string }
}>
const Verdict = Data.taggedEnum<Verdict>()

export interface AddressGuard {
  readonly judge: (address: string) => Verdict
}

interface Network {
  readonly name: string
  readonly cidr: string
  readonly contains: (address: string) => boolean
}

/** Entries of `allowCidrs` that are malformed. */
export const invalidCidrs = (allowCidrs: ReadonlyArray<string>) =>
  allowCidrs.filter((cidr) => parse(cidr) === undefined)

/**
 * An address in a refused range is refused unless the deployment allows a network that contains it. An IPv6 address
 * that stands for an IPv4 one (`::ffff:a.b.c.d`, NAT64) counts as that one. One that may lead to an IPv4 address, as
 * with 6to4, is refused with it, whatever is allowed. Pure.
 */
export const addressGuard = (allowCidrs: ReadonlyArray<string>): AddressGuard => {
  const allowed = allowCidrs.map((cidr) => network("allowed", cidr))
  const refused = refusedRanges.map(({ name, cidr }) => network(name, cidr))
  const judge = (given: string): Verdict => {
    const address = spelledOut(given)
    const { instead, also } = isIP(address) === 6 ? embeddedIn(address) : { also: [] }
    if (instead !== undefined) return judge(instead)
    if (isIP(address) === 0) return Verdict.Refused({ range: "not an address", cidr: given })
    if (!allowed.some((range) => range.contains(address))) {
      const found = refused.find((range) => range.contains(address))
      if (found !== undefined) return Verdict.Refused({ range: found.name, cidr: found.cidr })
    }
    return also.map(judge).find(({ _tag }) => _tag === "Refused") ?? Verdict.Allowed()
  }
  return { judge }
}

const network = (name: string, cidr: string): Network => {
  const parsed = parse(cidr)
  if (parsed === undefined) return { name, cidr, contains: () => false }
  const list = new BlockList()
  list.addSubnet(parsed.address, parsed.bits, parsed.family)
  return { name, cidr, contains: (address) => family(address) === parsed.family && list.check(address, parsed.family) }
}

const parse = (cidr: string) => {
  const [address = "", bitsText = ""] = cidr.split("/")
  const bits = Number(bitsText)
  const isPrefix = /^\d{1,3}$/u.test(bitsText) && bits <= (isIP(address) === 6 ? 128 : 32)
  return isIP(address) !== 0 && isPrefix ? { address, bits, family: family(address) } : undefined
}

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

// One spelling per address, without brackets and zone.
const spelledOut = (given: string): string => {
  const address = given.replace(/^\[|\]$/gu, "").replace(/%.*$/su, "")
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

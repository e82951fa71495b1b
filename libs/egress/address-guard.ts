/**
 * Whether an address may be called. Pure. An address in a refused range is refused unless the deployment
 * allows a network that holds it; an IPv4 address written inside an IPv6 one (`::ffff:a.b.c.d`) counts as
 * the IPv4 address it is.
 */
import { BlockList, isIP } from "node:net"
import { Data } from "effect"
import { refusedRanges } from "./address-ranges.ts"

export type Verdict = Data.TaggedEnum<{
  Allowed: {}
  Refused: { readonly range: string; readonly cidr: string }
}>
export const Verdict = Data.taggedEnum<Verdict>()

export interface AddressGuard {
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

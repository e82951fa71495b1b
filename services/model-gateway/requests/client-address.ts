/**
 * Whose calls are counted together: the caller's address, an IPv6 one by its /64, which is one household.
 * Behind proxies of ours it is the right-most address of X-Forwarded-For that is none of theirs; what stands
 * further left anybody can have written. Pure.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net"

const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/iu
const hopsMax = 64

const unmapped = (address: string) => mapped.exec(address)?.[1] ?? address

/** `[::1]:443` and `10.0.0.1:80` are written by some proxies. */
const bare = (hop: string) => {
  const text = hop.trim().replace(/^"|"$/gu, "")
  const bracketed = /^\[([0-9a-f:.]{2,45})\](?::\d{1,5})?$/iu.exec(text)?.[1]
  const ported = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/u.exec(text)?.[1]
  return unmapped(bracketed ?? ported ?? text)
}

export const clientAddress = (trustedProxies: ReadonlyArray<string>) => {
  const trusted = new BlockList()
  for (const cidr of trustedProxies) {
    const [network = "", bits = ""] = cidr.split("/")
    if (isIP(network) !== 0) trusted.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4")
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6")

  return (peer: string, forwardedFor: string | undefined): string => {
    const hops = (forwardedFor ?? "").split(",").slice(-hopsMax).map(bare)
    let address = unmapped(peer)
    while (isTrusted(address)) {
      const next = hops.pop()
      // What is no address was not written by a proxy of ours.
      if (next === undefined || isIP(next) === 0) break
      address = next
    }
    return group(address)
  }
}

const group = (address: string): string => {
  if (!isIPv6(address)) return address.slice(0, 64)
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::")
  const words = (part: string | undefined) => (part === undefined || part === "" ? [] : part.split(":"))
  const first = words(head)
  const last = words(tail)
  // An IPv4 address at the end stands for two words.
  const taken = first.length + last.length + (last.at(-1)?.includes(".") === true ? 1 : 0)
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - taken)
  const all = [...first, ...Array.from({ length: zeros }, () => "0"), ...last]
  const four = all.slice(0, 4).map((word) => Number.parseInt(word, 16).toString(16))
  return `${four.join(":")}::/64`
}

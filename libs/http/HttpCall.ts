/** The facts of the current request: its route, query, id and sender. */
import { randomUUID } from "node:crypto"
import { isIPv6 } from "node:net"
import { Context, Effect, type Option, Result, type Schema, type Scope } from "effect"
import { HttpServerRequest } from "effect/http"
import { boundedDecoder } from "#base"
import { notDecoded } from "./WireError.ts"

export class HttpCall extends Context.Service<
  HttpCall,
  {
    readonly requestId: string
    readonly method: string
    /** The route's pattern, such as `/v1/voices/:voice_id`. */
    readonly route: string
    /** Percent-decoded parameters of the path. */
    readonly params: Readonly<Record<string, string | undefined>>
    readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
    readonly remoteAddress: string
    /** A header by its name in lower case. */
    readonly header: (name: string) => Option.Option<string>
  }
>()("starling/http/HttpCall") {}

/** The services of every handler. The scope ends when the last byte is out, or the caller is gone. */
export type PerCall = HttpCall | HttpServerRequest.HttpServerRequest | Scope.Scope

/** All headers of the request, by their names in lower case. */
export const callHeaders = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers)

/** The query, decoded by the schema; fails with 400 and every fault. */
export const readQuery = Effect.fnUntraced(function* <A, I>(schema: Schema.Codec<A, I>) {
  const { query } = yield* HttpCall
  return yield* Effect.fromResult(Result.mapError(boundedDecoder(schema)(query), (faults) => notDecoded(faults)))
})

const acceptable = /^[\x21-\x7e]{1,128}$/u

/** The caller's id if it is fit for a header and a log line, else a generated one. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && acceptable.test(given) ? given : `req_${randomUUID()}`

/**
 * The caller's address. Our proxies wrote the last `trustedProxies` entries of X-Forwarded-For; anybody can write the
 * entries further left.
 */
export const remoteAddressOf = (peer: string, forwardedFor: string | undefined, trustedProxies: number): string => {
  if (trustedProxies === 0 || forwardedFor === undefined) return unmapped(peer)
  const hops = forwardedFor.split(",").map((hop) => hop.trim())
  return unmapped(hops[Math.max(0, hops.length - trustedProxies)] || peer)
}

/**
 * The group of addresses that share a limit: an IPv4 address, or the /64 of an IPv6 address, which is one household.
 */
export const addressGroup = (address: string): string => {
  if (!isIPv6(address)) return address.slice(0, 64)
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::")
  const words = (part: string | undefined) => (part === undefined || part === "" ? [] : part.split(":"))
  const first = words(head)
  const last = words(tail)
  // An IPv4 address at the end takes the place of two words.
  const present = first.length + last.length + (last.at(-1)?.includes(".") === true ? 1 : 0)
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - present)
  const all = [...first, ...Array.from({ length: zeros }, () => "0"), ...last]
  const four = all.slice(0, 4).map((word) => Number.parseInt(word, 16).toString(16))
  return `${four.join(":")}::/64`
}

const unmapped = (address: string) => (address.startsWith("::ffff:") ? address.slice(7) : address)

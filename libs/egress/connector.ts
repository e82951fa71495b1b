/**
 * Makes the connections of a door. Guarded, it looks three times: at a literal address before anything, at
 * every address a name resolves to (only allowed ones are tried), and at the address the socket really has.
 * A connection is pinned to its address for its life, so that a name that changes its mind changes nothing.
 *
 * Callbacks, because that is the client library's interface; nothing else may be in this file.
 */
import { isIP, type LookupFunction, type Socket } from "node:net"
import { buildConnector } from "undici"
import { type AddressGuard } from "./address-guard.ts"
import { AddressRefused } from "./errors.ts"
import type { Resolve } from "./Resolver.ts"

export interface ConnectorOptions {
  /** Nothing is guarded without one. */
  readonly guard: AddressGuard | undefined
  readonly resolve: Resolve
  readonly connectTimeoutMs: number
  readonly onOpened: () => void
  readonly onRefused: (range: string) => void
  /** PEM certificates trusted beside the system's. */
  readonly trusted?: string | undefined
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
    ...(options.trusted === undefined ? {} : { ca: options.trusted })
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

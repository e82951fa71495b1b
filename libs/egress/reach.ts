/**
 * A connection to a host, guarded: every address that its name resolves to is judged (only allowed ones are tried), and
 * so is the address that the socket actually has. A literal address is judged before anything else.
 */
import { lookup as systemLookup } from "node:dns"
import { isIP, type Socket } from "node:net"
import { Context } from "effect"
import { connectFirst, type GiveUp, type ResolvedAddress } from "./connect-race.ts"
import type { AddressRefused } from "./errors.ts"

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

export interface Guarding {
  readonly resolve: Resolve
  /** Why an address may not be called. */
  readonly refusalOf: (host: string, address: string) => AddressRefused | undefined
}

export interface Place {
  readonly host: string
  readonly port: number
}

export type Reached = (error: Error | null, socket: Socket | null) => void

export const placeOf = ({ protocol, hostname, port }: Pick<URL, "protocol" | "hostname" | "port">): Place => ({
  host: hostname.replace(/^\[|\]$/gu, ""),
  port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
})

/** Answers once, unless it is given up. */
export const reach = ({ host, port }: Place, guarding: Guarding, done: Reached): GiveUp => {
  let isGivenUp = false
  let giveUpRace = () => `${host} was not resolved`
  allowedAddresses(host, guarding, (unresolved, addresses) => {
    if (isGivenUp) return
    if (unresolved !== null) return done(unresolved, null)
    const raced: Reached = (error, socket) => {
      const refusal = socket === null ? undefined : guarding.refusalOf(host, socket.remoteAddress ?? "")
      if (refusal === undefined) return done(error, socket)
      socket?.destroy()
      return done(refusal, null)
    }
    giveUpRace = connectFirst({ addresses, port, done: raced })
  })
  return () => {
    isGivenUp = true
    return giveUpRace()
  }
}

type Addressed = (error: Error | null, allowed: ReadonlyArray<ResolvedAddress>) => void

/** The addresses of a host that can be called. */
export const allowedAddresses = (host: string, { resolve, refusalOf }: Guarding, done: Addressed) => {
  const judge = (error: Error | null, addresses: ReadonlyArray<ResolvedAddress>) => {
    if (error !== null) return done(error, [])
    const judged = addresses.map((found) => ({ found, refusal: refusalOf(host, found.address) }))
    const allowed = judged.filter(({ refusal }) => refusal === undefined).map(({ found }) => found)
    if (allowed.length > 0) return done(null, allowed)
    const refusal = judged[0]?.refusal
    return done(refusal ?? Object.assign(new Error(`${host} has no address`), { code: "ENODATA" }), [])
  }
  const family = isIP(host)
  if (family === 0) resolve(host, judge)
  else judge(null, [{ address: host, family: family === 6 ? 6 : 4 }])
}

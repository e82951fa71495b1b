/**
 * The connector opens connections, and has the address guard check three times: a literal address before anything else,
 * every address that a name resolves to (only allowed ones are tried), and the address that the socket actually has. A
 * connection stays pinned to its address for life, so a later change of the name does not affect it.
 */
import { lookup as systemLookup } from "node:dns"
import { isIP, type Socket } from "node:net"
import { Context } from "effect"
import { buildConnector } from "undici"
import { connectFirst, type ResolvedAddress } from "./connect-race.ts"
import { AddressRefused, ConnectFailed } from "./errors.ts"
import type { AddressGuard } from "./guard.ts"

interface ConnectorOptions extends Via {
  /** Without one, nothing is guarded. */
  readonly guard: AddressGuard | undefined
  readonly resolve: Resolve
  /** From the name's resolution to the end of the TLS handshake. */
  readonly connectTimeoutMs: number
  readonly onOpened: () => void
  readonly onRefused: (range: string) => void
}

/** What a server is told and asked before any request. */
export interface Via {
  /** Trusted PEM certificates, in place of the system's. */
  readonly trusted?: string | ReadonlyArray<string> | undefined
  /** Our own certificate and its key, as PEM, for servers that ask for one. */
  readonly identity?: TlsIdentity | undefined
}

export interface TlsIdentity {
  readonly cert: string
  readonly key: string
}

export const guardedConnector = (options: ConnectorOptions): buildConnector.connector => {
  const refusalOf = refusing(options)
  const secured = buildConnector({
    // Of the TLS handshake alone, which the timer below covers too.
    timeout: 0,
    allowH2: false,
    ...(options.trusted === undefined ? {} : { ca: [options.trusted].flat() }),
    ...options.identity
  })

  return (target, done) => {
    const host = target.hostname.replace(/^\[|\]$/gu, "")
    const isSecure = target.protocol === "https:"
    let giveUp = () => `${host} was not resolved`
    let isOver = false
    const end = (error: Error | null, socket: Socket | null) => {
      if (isOver) return void socket?.destroy()
      isOver = true
      clearTimeout(timer)
      if (error !== null || socket === null) return done(error ?? new ConnectFailed("no socket"), null)
      options.onOpened()
      done(null, socket)
      return takeContinue(socket)
    }
    const tooLate = () =>
      isOver
        ? undefined
        : end(new ConnectFailed(`no connection within ${options.connectTimeoutMs} ms: ${giveUp()}`), null)
    // After a stall of this process, connections that were established meanwhile are handled first.
    const timer = setTimeout(() => setImmediate(tooLate), options.connectTimeoutMs)

    const connected = (plain: Socket) => {
      const address = plain.remoteAddress ?? ""
      const refusal = refusalOf(host, address)
      giveUp = () => {
        plain.destroy()
        return `${address} did not finish the TLS handshake`
      }
      if (refusal !== undefined) {
        giveUp()
        return end(refusal, null)
      }
      if (!isSecure) return end(null, plain)
      return secured({ ...target, httpSocket: plain }, (error, socket) => {
        if (error !== null) plain.destroy()
        end(error, socket as Socket | null)
      })
    }
    addressesOf(host, { resolve: options.resolve, refusalOf }, (unresolved, addresses) => {
      if (isOver || unresolved !== null) return end(unresolved, null)
      const port = target.port === "" ? (isSecure ? 443 : 80) : Number(target.port)
      const raced = (error: Error | null, plain: Socket | null) =>
        plain === null ? end(error, null) : connected(plain)
      giveUp = connectFirst({ addresses, port, done: raced })
      return undefined
    })
  }
}

type RefusalOf = (host: string, address: string) => AddressRefused | undefined

const refusing =
  ({ guard, onRefused }: ConnectorOptions): RefusalOf =>
  (host, address) => {
    const verdict = guard?.judge(address)
    if (verdict?._tag !== "Refused") return undefined
    onRefused(verdict.range)
    return new AddressRefused({ host, address, range: verdict.range, cidr: verdict.cidr })
  }

type Addressed = (error: Error | null, allowed: ReadonlyArray<ResolvedAddress>) => void

/** The addresses of a host that can be called. */
const addressesOf = (
  host: string,
  { resolve, refusalOf }: { readonly resolve: Resolve; readonly refusalOf: RefusalOf },
  done: Addressed
) => {
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

/**
 * A client must accept a 100 that it did not ask for (RFC 9110, 15.2), and the client library hangs up on one. Its
 * parser gets a 102 instead, which it accepts. Node's own client accepts a 100, at more than twice the processor time.
 */
const takeContinue = (socket: Socket) => {
  const slot = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "parser")
  const parser = slot === undefined ? undefined : (socket as unknown as Record<symbol, Parser | null>)[slot]
  // The socket was abandoned meanwhile.
  if (parser === undefined || parser === null) return
  const complete = parser.onHeadersComplete
  parser.onHeadersComplete = (status, upgrade, isKeptAlive) =>
    complete.call(parser, status === 100 ? 102 : status, upgrade, isKeptAlive)
}

interface Parser {
  onHeadersComplete: (status: number, upgrade: boolean, isKeptAlive: boolean) => number
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

/**
 * The connector opens connections, directly or through a proxy, and has the address guard judge each of them. A
 * connection stays pinned to its address for life, so a later change of the name does not affect it.
 */
import type { Socket } from "node:net"
import { buildConnector } from "undici"
import { AddressRefused, ConnectFailed } from "./errors.ts"
import type { AddressGuard } from "./guard.ts"
import { type Guarding, placeOf, reach, type Reached, type Resolve } from "./reach.ts"
import { type Proxy, tunnel } from "./tunnel.ts"

interface ConnectorOptions extends Via {
  /** Without one, nothing is guarded. */
  readonly guard: AddressGuard | undefined
  /** Of proxies. */
  readonly proxyGuard?: AddressGuard | undefined
  readonly resolve: Resolve
  /** From the name's resolution to the end of the TLS handshake. */
  readonly connectTimeoutMs: number
  readonly onOpened: () => void
  readonly onRefused: (range: string) => void
}

/** What a server is told and asked before any request, and on which way. */
export interface Via {
  /** Trusted PEM certificates, in place of the system's. */
  readonly trusted?: string | ReadonlyArray<string> | undefined
  /** Our own certificate and its key, as PEM, for servers that ask for one. */
  readonly identity?: TlsIdentity | undefined
  readonly proxy?: Proxy | undefined
}

export interface TlsIdentity {
  readonly cert: string
  readonly key: string
}

export const guardedConnector = (options: ConnectorOptions): buildConnector.connector => {
  const open = opening(options)
  const secured = buildConnector({
    // Of the TLS handshake alone, which the timer below covers too.
    timeout: 0,
    allowH2: false,
    ...(options.trusted === undefined ? {} : { ca: [options.trusted].flat() }),
    ...options.identity
  })

  return (target, done) => {
    let isOver = false
    const end: Reached = (error, socket) => {
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
      giveUp = () => {
        plain.destroy()
        return `${plain.remoteAddress ?? ""} did not finish the TLS handshake`
      }
      if (target.protocol !== "https:") return end(null, plain)
      return secured({ ...target, httpSocket: plain }, (error, socket) => {
        if (error !== null) plain.destroy()
        end(error, socket as Socket | null)
      })
    }
    let giveUp = () => ""
    giveUp = open(target, (error, plain) => (plain === null ? end(error, null) : connected(plain)))
  }
}

const opening = ({ resolve, guard, proxyGuard, proxy, onRefused }: ConnectorOptions) => {
  const guarding = (by: AddressGuard | undefined, key: string): Guarding => ({
    resolve,
    refusalOf: (host, address) => {
      const verdict = by?.judge(address)
      if (verdict?._tag !== "Refused") return undefined
      onRefused(verdict.range)
      return new AddressRefused({ host, address, range: verdict.range, cidr: verdict.cidr, key })
    }
  })
  const toReceiver = guarding(guard, "AllowCidrs")
  if (proxy === undefined) {
    return (target: buildConnector.Options, done: Reached) => reach(placeOf(target), toReceiver, done)
  }
  const toProxy = guarding(proxyGuard, "ProxyAllowCidrs")
  return (target: buildConnector.Options, done: Reached) =>
    tunnel(placeOf(target), { proxy, toProxy, toReceiver }, done)
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

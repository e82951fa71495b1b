/**
 * A connection through a forward proxy, by CONNECT (RFC 9110, 9.3.6) for https and http alike. The name is resolved and
 * judged here, and the proxy is asked for the judged address: whatever the name is to the proxy, it cannot lead us to
 * another. TLS and the Host header keep the name. The proxy passes a guard of its own.
 */
import type { Socket } from "node:net"
import { buildConnector } from "undici"
import type { GiveUp, ResolvedAddress } from "./connect-race.ts"
import { ConnectFailed } from "./errors.ts"
import { allowedAddresses, type Guarding, type Place, placeOf, reach, type Reached } from "./reach.ts"

export interface Proxy {
  /** Its origin, of http or https. */
  readonly url: string
  /** For `Proxy-Authorization`. */
  readonly authorization?: string | undefined
}

interface Tunnel {
  readonly proxy: Proxy
  readonly toProxy: Guarding
  readonly toReceiver: Guarding
}

// If a name has more addresses, a few of them do as well as all.
const addressesMax = 4

/** Answers once, unless it is given up. */
export const tunnel = ({ host, port }: Place, { proxy, toProxy, toReceiver }: Tunnel, done: Reached): GiveUp => {
  let isGivenUp = false
  let giveUpStep = () => `${host} was not resolved`
  const attempt = ([address, ...others]: ReadonlyArray<ResolvedAddress>) => {
    const opened: Reached = (error, socket) => {
      if (isGivenUp) return void socket?.destroy()
      if (socket === null) return done(error, null)
      giveUpStep = () => {
        socket.destroy()
        return `the proxy ${proxy.url} did not answer`
      }
      return askFor(socket, authorityOf(address, port), proxy, (failure) => {
        if (isGivenUp) return
        if (failure === undefined) return done(null, socket)
        socket.destroy()
        if (others.length > 0) return attempt(others)
        return done(new ConnectFailed(`the proxy ${proxy.url} ${failure}`), null)
      })
    }
    giveUpStep = openProxy(proxy, toProxy, opened)
  }
  allowedAddresses(host, toReceiver, (unresolved, addresses) => {
    if (isGivenUp) return
    if (unresolved !== null) done(unresolved, null)
    else attempt(addresses.slice(0, addressesMax))
  })
  return () => {
    isGivenUp = true
    return giveUpStep()
  }
}

const authorityOf = (address: ResolvedAddress | undefined, port: number) =>
  address?.family === 6 ? `[${address.address}]:${port}` : `${address?.address}:${port}`

const secured = buildConnector({ timeout: 0, allowH2: false })

const openProxy = ({ url }: Proxy, guarding: Guarding, done: Reached): GiveUp => {
  const { protocol, hostname, port, host } = new URL(url)
  return reach(placeOf({ protocol, hostname, port }), guarding, (error, socket) => {
    if (socket === null || protocol === "http:") return done(error, socket)
    return secured({ protocol, hostname, host, port, httpSocket: socket }, (failure, inTls) => {
      if (failure !== null) socket.destroy()
      done(failure, inTls as Socket | null)
    })
  })
}

const headBytesMax = 16_384

/** Tells why there is no tunnel, or nothing. What follows the answer's head stays in the socket. */
const askFor = (
  socket: Socket,
  authority: string,
  { authorization }: Proxy,
  done: (failure: string | undefined) => void
) => {
  let head = Buffer.alloc(0)
  const end = (failure: string | undefined) => {
    socket.off("readable", read)
    socket.off("error", broken)
    socket.off("close", closed)
    done(failure)
  }
  const broken = ({ message }: Error) => end(`broke off: ${message}`)
  const closed = () => end("hung up")
  const read = () => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    head = Buffer.concat([head, chunk])
    const at = head.indexOf("\r\n\r\n")
    if (at < 0) return head.length > headBytesMax ? end("answered with too long a head") : undefined
    const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r)/u.exec(head.toString("latin1", 0, at + 2)) ?? []
    const rest = head.subarray(at + 4)
    if (rest.length > 0) socket.unshift(rest)
    if (status === undefined) return end("answered in another protocol")
    return end(status.startsWith("2") ? undefined : `answered ${status} to CONNECT ${authority}`)
  }
  socket.on("readable", read).on("error", broken).on("close", closed)
  const own = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${own}\r\n`)
}

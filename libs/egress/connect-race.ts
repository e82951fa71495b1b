/**
 * The first connection to any of a name's addresses, per RFC 8305: the families take turns, each attempt starts a
 * moment after the previous one or as soon as that has failed, and none ends before another has won. So neither a
 * family without a route nor a slow handshake costs more than a moment.
 */
import { connect, type Socket } from "node:net"
import { ConnectFailed } from "./errors.ts"

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

interface Race {
  readonly addresses: ReadonlyArray<ResolvedAddress>
  readonly port: number
  readonly done: (error: Error | null, socket: Socket | null) => void
}

// The value that RFC 8305 recommends.
const nextAfterMs = 250
// If a name has more addresses, a few of them do as well as all.
const attemptsMax = 8

/** Ends the attempts still running; returns the outcome of each. */
export type GiveUp = () => string

export const connectFirst = ({ addresses, port, done }: Race): GiveUp => {
  const order = inTurn(addresses).slice(0, attemptsMax)
  const trying = new Map<Socket, string>()
  const failures: Array<string> = []
  let next = 0
  let timer: NodeJS.Timeout | undefined

  const timeOut = () => {
    clearTimeout(timer)
    next = order.length
    const silent = [...trying.values()].map((address) => `${address} did not answer`)
    for (const socket of trying.keys()) socket.destroy()
    trying.clear()
    return [...failures, ...silent].join("; ")
  }
  const attempt = () => {
    clearTimeout(timer)
    const one = order[next++]
    if (one === undefined) return
    const socket = connect({ host: one.address, port, family: one.family, ...socketOptions })
    trying.set(socket, one.address)
    socket.once("connect", () => {
      if (!trying.delete(socket)) return
      timeOut()
      done(null, socket)
    })
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!trying.delete(socket)) return
      failures.push(`${one.address} ${error.code ?? error.message}`)
      if (next < order.length) return attempt()
      return trying.size === 0 ? done(new ConnectFailed(failures.join("; ")), null) : undefined
    })
    if (next < order.length) timer = setTimeout(attempt, nextAfterMs)
  }
  attempt()
  return timeOut
}

// As the client library creates its own.
const socketOptions = {
  highWaterMark: 64 * 1_024,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  noDelay: true,
  autoSelectFamily: false
}

/** Alternates families, starting with the resolver's first. */
export const inTurn = (addresses: ReadonlyArray<ResolvedAddress>) => {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family)
  return addresses.flatMap((_, index) => [first[index], second[index]]).filter((one) => one !== undefined)
}

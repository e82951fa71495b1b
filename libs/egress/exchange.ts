/**
 * One request and its answer over a pool: total deadline, capped body, prompt cancellation. It uses callbacks and a
 * plain timer, because it runs ten thousand times a second; nothing else belongs in this file.
 *
 * A receiver may hang up on an idle connection just as a request leaves on it. If the caller allows its request to
 * arrive twice, and no byte of an answer came, it is sent once more at once, on a connection of its own.
 */
import type { Socket } from "node:net"
import { Effect } from "effect"
import type { Dispatcher, Pool } from "undici"
import type { Target } from "./client.ts"
import type { Via } from "./connector.ts"
import { DeadlineExceeded, type EgressError, toEgressError, Withdrawn } from "./errors.ts"

export interface EgressRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** From name resolution to the last byte. */
  readonly deadlineMs: number
  /** How many bytes of the answer are read; a longer one closes the connection. */
  readonly responseBytesMax: number
  /** Requests of one lane share connections, so a hanging lane does not hold up another. Default: one per origin. */
  readonly lane?: string
  readonly connectionsMax?: number
  /** How the lane's connections are made, if not as the client's. A request with another one has them made anew. */
  readonly via?: Via | undefined
  /**
   * Called right before the bytes go to a connected socket. If false, nothing is sent, and the request is `Withdrawn`.
   */
  readonly mayLeave?: () => boolean
  /** Called when the bytes go to a connected socket; only once, even if the request is sent again. */
  readonly onLeave?: () => void
  /** The receiver recognizes a request that arrives twice. */
  readonly isRepeatable?: boolean
  /** Only the answer's head matters: a body that breaks off, or ends too late, is `truncated` and not a failure. */
  readonly isHeadEnough?: boolean
}

/** The connections of one lane, as an exchange uses them. */
export interface Route {
  readonly via: Via | undefined
  readonly pool: Pool
  /** A pool of one new connection, to be closed. */
  readonly newPool: () => Pool
  /** Called as the head of a request is written, with the socket that carries it. */
  readonly onSocket: (found: (socket: Socket, isReused: boolean) => void) => void
}

export interface EgressResponse {
  readonly status: number
  /** Lower-case names; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly truncated: boolean
}

class Cancelled extends Error {}

// One for all: Node captures the stack of each error that closes a socket, which costs more than the closing.
const cancelled = new Cancelled("the request was given up")

/**
 * The deadlines of a hanging receiver pass together, and each costs half a millisecond or more: a socket to close, an
 * error, and its caller's next step. One or a few are handled per turn, so that other requests proceed in between.
 */
const overdue = () => {
  const waiting: Array<Overdue> = []
  let isTurnComing = false
  const turnSoon = () => {
    if (isTurnComing) return
    isTurnComing = true
    setTimeout(turn, turnMs)
  }
  const turn = () => {
    isTurnComing = false
    const lateMs = Math.min(lateMsMax, lateShareMax * (waiting[0]?.deadlineMs ?? 0))
    const count = Math.min(expiriesPerTurnMax, Math.ceil((waiting.length * turnMs) / lateMs))
    for (const { expire } of waiting.splice(0, count)) expire()
    if (waiting.length > 0) turnSoon()
  }
  return {
    add: (one: Overdue) => {
      waiting.push(one)
      turnSoon()
    }
  }
}

interface Overdue {
  readonly deadlineMs: number
  readonly expire: () => void
}

const turnMs = 4
// Overdue calls are spread over about this share of their deadline; a crowd is handled as fast as the processor allows.
const lateShareMax = 0.1
const lateMsMax = 1_000
const expiriesPerTurnMax = 32

const deadlines = overdue()

export const exchange = (route: Route, target: Target, request: EgressRequest) =>
  Effect.callback<EgressResponse, EgressError>((resume) => {
    const { deadlineMs, isRepeatable = false, isHeadEnough = false } = request
    const sent = { ...target, method: request.method, headers: request.headers, body: request.body }
    const answer = arriving(request.responseBytesMax)
    let controller: Dispatcher.DispatchController | undefined
    let phase: "connect" | "headers" = "connect"
    let ended = false
    /** Why it is sent again. */
    let before: EgressError | undefined
    let hasNoByte = () => false

    const end = (result: Effect.Effect<EgressResponse, EgressError>) => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      resume(result)
    }
    const succeed = (truncated: boolean) => end(Effect.succeed(answer.whole(truncated)))
    const cancel = () => controller?.abort(cancelled)
    const fail = (error: EgressError) => {
      if (ended) return
      if (isHeadEnough && answer.hasBegun()) return succeed(true)
      const isHungUp = error._tag === "Unreachable" && error.reason === "reset"
      if (!isRepeatable || before !== undefined || !isHungUp || !hasNoByte()) return end(Effect.fail(error))
      before = error
      phase = "connect"
      const once = route.newPool()
      send(once)
      void once.close()
    }
    const tooLate = () => {
      fail(new DeadlineExceeded({ phase: answer.hasBegun() ? "body" : phase, deadlineMs, status: answer.status() }))
      cancel()
    }
    const timer = setTimeout(() => deadlines.add({ deadlineMs, expire: tooLate }), deadlineMs)

    const send = (pool: Pool) =>
      pool.dispatch(sent, {
        onRequestStart: (started) => {
          controller = started
          if (ended) return cancel()
          if (request.mayLeave?.() === false) {
            end(Effect.fail(before ?? new Withdrawn()))
            return cancel()
          }
          phase = "headers"
          if (before !== undefined) return
          if (isRepeatable) route.onSocket((socket, isReused) => (hasNoByte = noByteOn(socket, isReused)))
          request.onLeave?.()
        },
        onResponseStart: (_controller, status, given) => answer.begin(status, given),
        onResponseData: (_controller, chunk) => {
          if (answer.take(chunk)) return
          succeed(true)
          cancel()
        },
        onResponseEnd: () => succeed(false),
        onResponseError: (_controller, error) => fail(toEgressError(error))
      })
    send(route.pool)
    return Effect.sync(() => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      cancel()
    })
  })

/** Whether a reused connection has stayed silent since this call. */
const noByteOn = (socket: Socket, isReused: boolean) => {
  const bytesBefore = socket.bytesRead
  return () => isReused && socket.bytesRead === bytesBefore
}

/** An answer as it arrives, with as much of its body as requested. */
const arriving = (bytesMax: number) => {
  let status: number | null = null
  let headers: Readonly<Record<string, string>> = {}
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  return {
    hasBegun: () => status !== null,
    status: () => status,
    begin: (code: number, given: Parameters<typeof flat>[0]) => {
      // An interim answer does not count yet.
      if (code < 200) return
      status = code
      headers = flat(given)
    },
    /** False if the chunk exceeds the limit. */
    take: (chunk: Uint8Array) => {
      const room = bytesMax - bytes
      const taken = chunk.length <= room ? chunk : chunk.subarray(0, Math.max(0, room))
      if (taken.length > 0) chunks.push(taken)
      bytes += taken.length
      return taken === chunk
    },
    whole: (truncated: boolean): EgressResponse => ({
      status: status ?? 0,
      headers,
      body: joined(chunks, bytes),
      truncated
    })
  }
}

const joined = (chunks: ReadonlyArray<Uint8Array>, bytes: number) =>
  chunks.length === 1 ? (chunks[0] ?? new Uint8Array(0)) : Buffer.concat(chunks, bytes)

/** Headers as the client library gives them, as one text each; repeated ones are joined by a comma. */
export const flat = (given: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>) => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ")
  }
  return headers
}

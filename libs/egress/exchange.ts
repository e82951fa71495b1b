/**
 * One request and its answer over a pool: total deadline, capped body, prompt cancellation. It uses callbacks and a
 * plain timer, because it runs ten thousand times a second; nothing else may be in this file.
 */
import { Effect } from "effect"
import type { Dispatcher, Pool } from "undici"
import type { Target } from "./client.ts"
import { DeadlineExceeded, type EgressError, toEgressError, Withdrawn } from "./errors.ts"

export interface EgressRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** From name resolution to the last byte. */
  readonly deadlineMs: number
  /** How much of the answer is read; a longer one closes the connection. */
  readonly responseBytesMax: number
  /** Requests of one lane share connections, so a hanging lane holds up no other. Default: one per origin. */
  readonly lane?: string
  readonly connectionsMax?: number
  /** Asked right before the bytes go to a connected socket; on false nothing goes, and the request is `Withdrawn`. */
  readonly mayLeave?: () => boolean
  /** Called when the bytes go to a connected socket. */
  readonly onLeave?: () => void
}

export interface EgressResponse {
  readonly status: number
  /** Lower-case names; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly truncated: boolean
}

class Cancelled extends Error {}

// One for all: Node writes the stack of each error that closes a socket, which costs more than the closing.
const cancelled = new Cancelled("the request was given up")

/**
 * The deadlines of a receiver that hangs pass together, and each costs half a millisecond or more: a socket to close, an
 * error, and what its caller does next. One is told each turn, or a few, so that other requests go on in between.
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
    const told = Math.min(toldAtOnceMax, Math.ceil((waiting.length * turnMs) / lateMs))
    for (const { tell } of waiting.splice(0, told)) tell()
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
  readonly tell: () => void
}

const turnMs = 4
// Those who wait are spread over about so long; a crowd is told as fast as the processor lets it.
const lateShareMax = 0.1
const lateMsMax = 1_000
const toldAtOnceMax = 32

const deadlines = overdue()

export const exchange = (pool: Pool, { origin, path }: Target, request: EgressRequest) =>
  Effect.callback<EgressResponse, EgressError>((resume) => {
    let controller: Dispatcher.DispatchController | undefined
    let phase: "connect" | "headers" | "body" = "connect"
    let ended = false
    let status = 0
    let headers: Readonly<Record<string, string>> = {}
    const chunks: Array<Uint8Array> = []
    let bytes = 0

    const end = (result: Effect.Effect<EgressResponse, EgressError>) => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      resume(result)
    }
    const succeed = (truncated: boolean) =>
      end(Effect.succeed({ status, headers, body: joined(chunks, bytes), truncated }))
    const cancel = () => controller?.abort(cancelled)

    const { deadlineMs } = request
    const tooLate = () => {
      if (ended) return
      end(Effect.fail(new DeadlineExceeded({ phase, deadlineMs, status: phase === "body" ? status : null })))
      cancel()
    }
    const timer = setTimeout(() => deadlines.add({ deadlineMs, tell: tooLate }), deadlineMs)

    pool.dispatch(
      { origin, path, method: request.method, headers: request.headers, body: request.body },
      {
        onRequestStart: (started) => {
          controller = started
          if (ended) return cancel()
          if (request.mayLeave?.() === false) {
            end(Effect.fail(new Withdrawn()))
            return cancel()
          }
          phase = "headers"
          request.onLeave?.()
        },
        onResponseStart: (_controller, code, given) => {
          phase = "body"
          status = code
          headers = flat(given)
        },
        onResponseData: (_controller, chunk) => {
          const room = request.responseBytesMax - bytes
          if (chunk.length <= room) {
            chunks.push(chunk)
            bytes += chunk.length
            return
          }
          if (room > 0) chunks.push(chunk.subarray(0, room))
          bytes += Math.max(0, room)
          succeed(true)
          cancel()
        },
        onResponseEnd: () => succeed(false),
        onResponseError: (_controller, error) => (ended ? undefined : end(Effect.fail(toEgressError(error))))
      }
    )
    return Effect.sync(() => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      cancel()
    })
  })

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

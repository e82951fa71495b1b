/**
 * The answer to one request as it arrives: its head, then chunks that are taken when there is room for them.
 * What nobody has taken yet is bounded; past that the socket is not read, and the other side has to wait.
 *
 * Callbacks, because that is the client library's interface; nothing else may be in this file.
 */
import { Effect } from "effect"
import type { Dispatcher, Pool } from "undici"
import { type EgressError, toEgressError } from "./errors.ts"
import { flat } from "./flat-headers.ts"
import { ResponseTooLarge, type Stalled, type StreamError } from "./stream-errors.ts"
import type { EgressStreamRequest } from "./stream-exchange.ts"

export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export interface Inflow {
  readonly head: Effect.Effect<Head, EgressError>
  /** What has come since the last time, at least one chunk; nothing when it has ended. */
  readonly take: Effect.Effect<ReadonlyArray<Uint8Array>, StreamError>
  readonly phase: () => "connect" | "headers" | "body"
  readonly bytes: () => number
  readonly cancel: () => void
}

class Cancelled extends Error {}

// A few socket reads: enough to never wait for the socket, little enough for thousands of streams.
const heldBytesMax = 65_536

export const inflow = (pool: Pool, origin: string, path: string, request: EgressStreamRequest): Inflow => {
  let controller: Dispatcher.DispatchController | undefined
  let phase: "connect" | "headers" | "body" = "connect"
  let head: Head | undefined
  let end: { readonly error: StreamError | undefined } | undefined
  let held: Array<Uint8Array> = []
  let heldBytes = 0
  let bytes = 0
  let wake: (() => void) | undefined

  const notify = () => {
    const waiting = wake
    wake = undefined
    waiting?.()
  }
  const finish = (error: StreamError | undefined) => {
    end ??= { error }
    notify()
  }
  const cancel = () => {
    finish(undefined)
    controller?.abort(new Cancelled())
  }
  const onData = (from: Dispatcher.DispatchController, chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes > request.responseBytesMax) {
      finish(new ResponseTooLarge({ bytesMax: request.responseBytesMax }))
      return from.abort(new Cancelled())
    }
    held.push(chunk)
    heldBytes += chunk.length
    if (heldBytes >= heldBytesMax) from.pause()
    return notify()
  }

  pool.dispatch(
    { origin, path, method: request.method, headers: request.headers, body: request.body },
    {
      onRequestStart: (started) => {
        controller = started
        if (end !== undefined) return cancel()
        phase = "headers"
        return request.onLeave?.()
      },
      onResponseStart: (_controller, status, given) => {
        phase = "body"
        head = { status, headers: flat(given) }
        notify()
      },
      onResponseData: onData,
      onResponseEnd: () => finish(undefined),
      onResponseError: (_controller, error) => finish(toEgressError(error))
    }
  )

  /** Waits until `look` has something to say. */
  const when = <A, E>(look: () => Effect.Effect<A, E> | undefined) =>
    Effect.callback<A, E>((resume) => {
      const again = () => {
        const found = look()
        if (found === undefined) wake = again
        else resume(found)
      }
      again()
      return Effect.sync(() => void (wake = undefined))
    })

  return {
    phase: () => phase,
    bytes: () => bytes,
    cancel,
    head: when(() => {
      if (head !== undefined) return Effect.succeed(head)
      if (end === undefined) return undefined
      const { error } = end
      return Effect.fail(isOfBody(error) ? toEgressError(new Cancelled("no answer")) : error)
    }),
    take: when(() => {
      if (held.length > 0) {
        const taken = held
        held = []
        heldBytes = 0
        if (controller?.paused === true) controller.resume()
        return Effect.succeed(taken)
      }
      if (end === undefined) return undefined
      return end.error === undefined ? Effect.succeed([]) : Effect.fail(end.error)
    })
  }
}

const isOfBody = (error: StreamError | undefined): error is Stalled | ResponseTooLarge | undefined =>
  error === undefined || error._tag === "Stalled" || error._tag === "ResponseTooLarge"

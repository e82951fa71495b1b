/**
 * A streamed call: one request whose answer is read as it arrives, the head first, then chunks at the reader's pace.
 * Four limits apply: time until the headers, time between chunks, total time, and bytes. A slow reader never counts as
 * a stall of the other side. Closing the scope cuts the connection at once.
 */
import { Cause, Clock, Effect, type Scope, Stream } from "effect"
import type { Dispatcher, Pool } from "undici"
import type { Target } from "./client.ts"
import {
  DeadlineExceeded,
  type EgressError,
  ResponseTooLarge,
  Stalled,
  type StreamError,
  toEgressError
} from "./errors.ts"
import { type EgressRequest, flat } from "./exchange.ts"

export interface EgressStreamRequest extends Omit<EgressRequest, "deadlineMs"> {
  /** From name resolution to the answer's headers. */
  readonly headersMs: number
  /** Between the headers and the first chunk, and from one chunk to the next. */
  readonly stallMs: number
  /** From name resolution to the last byte. */
  readonly deadlineMs: number
}

export interface EgressStream {
  readonly status: number
  /** Lower-case names; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Can be run once. */
  readonly body: Stream.Stream<Uint8Array, StreamError>
}

type Chunks = readonly [Uint8Array, ...Array<Uint8Array>]

export const streamExchange = Effect.fnUntraced(function* (
  pool: Pool,
  target: Target,
  request: EgressStreamRequest
): Effect.fn.Return<EgressStream, EgressError, Scope.Scope> {
  const { headersMs, stallMs, deadlineMs } = request
  const startedAtMs = yield* Clock.currentTimeMillis
  const flow = yield* Effect.acquireRelease(
    Effect.sync(() => openInflow(pool, target, request)),
    (flow) => Effect.sync(() => cancel(flow))
  )
  const head = yield* Effect.timeoutOrElse(headOf(flow), {
    duration: Math.min(headersMs, deadlineMs),
    orElse: () => Effect.fail(new DeadlineExceeded({ phase: flow.phase, deadlineMs: headersMs, status: null }))
  })

  const next = nextChunks({ flow, status: head.status, startedAtMs, deadlineMs, stallMs })
  return { ...head, body: Stream.fromPull(Effect.succeed(next)) }
})

interface Body {
  readonly flow: Inflow
  readonly status: number
  readonly startedAtMs: number
  readonly deadlineMs: number
  readonly stallMs: number
}

const nextChunks = Effect.fnUntraced(function* ({ flow, status, startedAtMs, deadlineMs, stallMs }: Body) {
  const leftMs = startedAtMs + deadlineMs - (yield* Clock.currentTimeMillis)
  const late = new DeadlineExceeded({ phase: "body", deadlineMs, status })
  // This also ends the call when its reader is slower than the deadline.
  if (leftMs <= 0) return yield* late
  const taken = yield* Effect.timeoutOrElse(take(flow), {
    duration: Math.min(stallMs, leftMs),
    orElse: () => Effect.fail(leftMs <= stallMs ? late : new Stalled({ stallMs, bytesBefore: flow.bytes }))
  })
  return isSome(taken) ? taken : yield* Cause.done()
})

const isSome = (chunks: ReadonlyArray<Uint8Array>): chunks is Chunks => chunks.length > 0

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The answer to one request as it arrives: its head, then chunks as there is room for them. The bytes not yet taken are
 * bounded; beyond the bound the socket is not read, and the other side has to wait. The client library uses callbacks;
 * they stay below this line.
 */
interface Inflow {
  controller: Dispatcher.DispatchController | undefined
  phase: "connect" | "headers" | "body"
  head: Head | undefined
  end: { readonly error: StreamError | undefined } | undefined
  pending: Array<Uint8Array>
  heldBytes: number
  bytes: number
  wake: (() => void) | undefined
}

class Cancelled extends Error {}

// A few socket reads: enough to never wait for the socket, few enough for thousands of streams.
const heldBytesMax = 65_536

const openInflow = (pool: Pool, { origin, path }: Target, request: EgressStreamRequest): Inflow => {
  const flow: Inflow = {
    controller: undefined,
    phase: "connect",
    head: undefined,
    end: undefined,
    pending: [],
    heldBytes: 0,
    bytes: 0,
    wake: undefined
  }
  pool.dispatch(
    { origin, path, method: request.method, headers: request.headers, body: request.body },
    {
      onRequestStart: (started) => {
        flow.controller = started
        if (flow.end !== undefined) return cancel(flow)
        flow.phase = "headers"
        return request.onLeave?.()
      },
      onResponseStart: (_controller, status, given) => {
        // An interim answer, such as 103, does not count yet.
        if (status < 200) return
        flow.phase = "body"
        flow.head = { status, headers: flat(given) }
        notify(flow)
      },
      onResponseData: (from, chunk) => buffer(flow, { from, chunk, bytesMax: request.responseBytesMax }),
      onResponseEnd: () => finish(flow, undefined),
      onResponseError: (_controller, error) => finish(flow, toEgressError(error))
    }
  )
  return flow
}

interface Arrived {
  readonly from: Dispatcher.DispatchController
  readonly chunk: Uint8Array
  readonly bytesMax: number
}

const buffer = (flow: Inflow, { from, chunk, bytesMax }: Arrived) => {
  flow.bytes += chunk.length
  if (flow.bytes > bytesMax) {
    finish(flow, new ResponseTooLarge({ bytesMax }))
    return from.abort(new Cancelled())
  }
  flow.pending.push(chunk)
  flow.heldBytes += chunk.length
  if (flow.heldBytes >= heldBytesMax) from.pause()
  return notify(flow)
}

const cancel = (flow: Inflow) => {
  finish(flow, undefined)
  flow.controller?.abort(new Cancelled())
}

const finish = (flow: Inflow, error: StreamError | undefined) => {
  flow.end ??= { error }
  notify(flow)
}

const notify = (flow: Inflow) => {
  const waiting = flow.wake
  flow.wake = undefined
  waiting?.()
}

const headOf = (flow: Inflow): Effect.Effect<Head, EgressError> =>
  when(flow, () => {
    if (flow.head !== undefined) return Effect.succeed(flow.head)
    if (flow.end === undefined) return undefined
    const { error } = flow.end
    return Effect.fail(isOfBody(error) ? toEgressError(new Cancelled("no answer")) : error)
  })

const isOfBody = (error: StreamError | undefined): error is Stalled | ResponseTooLarge | undefined =>
  error === undefined || error._tag === "Stalled" || error._tag === "ResponseTooLarge"

/** The chunks since the last take, at least one; none once the answer has ended. */
const take = (flow: Inflow): Effect.Effect<ReadonlyArray<Uint8Array>, StreamError> =>
  when(flow, () => {
    if (flow.pending.length > 0) {
      const taken = flow.pending
      flow.pending = []
      flow.heldBytes = 0
      if (flow.controller?.paused === true) flow.controller.resume()
      return Effect.succeed(taken)
    }
    if (flow.end === undefined) return undefined
    return flow.end.error === undefined ? Effect.succeed([]) : Effect.fail(flow.end.error)
  })

/** Waits until `look` returns an effect. */
const when = <A, E>(flow: Inflow, look: () => Effect.Effect<A, E> | undefined) =>
  Effect.callback<A, E>((resume) => {
    const again = () => {
      const found = look()
      if (found === undefined) flow.wake = again
      else resume(found)
    }
    again()
    return Effect.sync(() => void (flow.wake = undefined))
  })

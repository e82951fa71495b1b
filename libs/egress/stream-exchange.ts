/**
 * One request whose answer is read as it comes: the head first, then chunks at the reader's pace. Four bounds
 * act: until the headers, between chunks, in all, and on the bytes. A reader that takes its time never counts
 * as a stall of the other side. Closing the scope cuts the connection at once.
 */
import { Cause, Clock, Effect, type Scope, Stream } from "effect"
import type { Pool } from "undici"
import { DeadlineExceeded, type EgressError } from "./errors.ts"
import type { EgressRequest } from "./exchange.ts"
import { type Inflow, inflow } from "./inflow.ts"
import { Stalled, type StreamError } from "./stream-errors.ts"

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
  origin: string,
  path: string,
  request: EgressStreamRequest
): Effect.fn.Return<EgressStream, EgressError, Scope.Scope> {
  const { headersMs, stallMs, deadlineMs } = request
  const startedAtMs = yield* Clock.currentTimeMillis
  const flow = yield* Effect.acquireRelease(
    Effect.sync(() => inflow(pool, origin, path, request)),
    ({ cancel }) => Effect.sync(cancel)
  )
  const head = yield* Effect.timeoutOrElse(flow.head, {
    duration: Math.min(headersMs, deadlineMs),
    orElse: () => Effect.fail(new DeadlineExceeded({ phase: flow.phase(), deadlineMs: headersMs, status: null }))
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
  // Also for a reader that was slower than the deadline.
  if (leftMs <= 0) return yield* late
  const taken = yield* Effect.timeoutOrElse(flow.take, {
    duration: Math.min(stallMs, leftMs),
    orElse: () => Effect.fail(leftMs <= stallMs ? late : new Stalled({ stallMs, bytesBefore: flow.bytes() }))
  })
  return isSome(taken) ? taken : yield* Cause.done()
})

const isSome = (chunks: ReadonlyArray<Uint8Array>): chunks is Chunks => chunks.length > 0

/**
 * Answers that leave while they are made. The first piece is awaited before the headers are sent, so that a
 * failure up to there still has a status of its own. Nothing is pulled that the reader has not made room for.
 * When the caller is gone the stream is interrupted where it stands, and its finalizers run.
 */
import { Cause, Effect, Pull, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AnswerOptions } from "./answers.ts"

export interface StreamOptions extends AnswerOptions {
  readonly contentType: string
  /** Sent as Content-Length; the stream must be exactly as long. */
  readonly contentBytes?: number
}

export type Bytes = Uint8Array<ArrayBufferLike>

/** Bytes as they come. A failure after the first ones breaks the connection: half is never taken for whole. */
export const streamAnswer = Effect.fnUntraced(function* <E, R>(
  stream: Stream.Stream<Bytes, E, R>,
  options: StreamOptions
) {
  const context = yield* Effect.context<R>()
  const pull = yield* Stream.toPull(stream)
  const first = yield* firstOf(pull)
  // The body is written outside of the handler, where the request's id and span are no longer around.
  const rest = Stream.fromPull(Effect.succeed(Effect.provideContext(Effect.tapCause(pull, logBreak), context)))
  const body = first._tag === "Ended" ? Stream.empty : Stream.concat(Stream.fromArray(first.items), rest)
  return HttpServerResponse.stream(body, {
    status: options.status ?? 200,
    headers: options.headers ?? {},
    contentType: options.contentType,
    contentLength: options.contentBytes
  })
})

/** The first piece of a stream, or its end. Its failure is the caller's. */
export const firstOf = <A, E, R>(pull: Pull.Pull<A, E, void, R>) =>
  Pull.matchEffect(pull, {
    onSuccess: (items) => Effect.succeed({ _tag: "Items" as const, items }),
    onFailure: (cause) => Effect.failCause(cause),
    onDone: () => Effect.succeed({ _tag: "Ended" as const })
  })

/** Says why an answer was broken off; its status has gone out long ago. */
export const logBreak = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Pull.isDoneCause(cause) || Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.logError("an answer broke off after its first byte", cause)

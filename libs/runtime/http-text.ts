/** The text that another process of the fleet answers: at most two seconds and 64 MiB of it. */
import { Effect, Schema, Stream } from "effect"

// Within a scraper's patience, and more than a dispatcher of ten thousand endpoints shows: some twenty megabytes.
const answerWithin = "2 seconds"
const bytesMax = 64 * 1_024 * 1_024

export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  url: Schema.String,
  reason: Schema.String
}) {}

/** The text at an address, with whatever status it has. */
export const textAt = (url: string) =>
  Effect.gen(function* () {
    const failed = (cause: unknown) => new NoAnswer({ url, reason: String(cause) })
    const { status, body } = yield* Effect.tryPromise({ try: (signal) => fetch(url, { signal }), catch: failed })
    if (body === null) return { status, text: "" }
    const parts: Array<Uint8Array> = []
    let bytes = 0
    yield* Stream.runForEach(Stream.fromReadableStream({ evaluate: () => body, onError: failed }), (part) => {
      bytes += part.length
      parts.push(part)
      return bytes > bytesMax ? Effect.fail(failed("too long")) : Effect.void
    })
    return { status, text: Buffer.concat(parts).toString("utf8") }
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new NoAnswer({ url, reason: "no answer in time" }))
    })
  )

/**
 * Answers: complete before their first byte leaves, produced while they are sent, or files to save. The first piece of
 * a stream is awaited before the headers go out, so that an earlier failure still gets its own status. Nothing is
 * pulled that the reader has no room for. When the caller is gone the stream is interrupted, and its finalizers run.
 */
import { validateHeaderName, validateHeaderValue } from "node:http"
import { Cause, Effect, Pull, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

export type Answer = HttpServerResponse.HttpServerResponse

export interface AnswerOptions {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

declare const written: unique symbol

/** An answer whose body is this value as JSON. Only its type shows the value. */
export type JsonAnswer<Value> = Answer & { readonly [written]: Value }

/** `value` must already be encoded: only what JSON can hold. */
export const jsonAnswer = <const Value>(
  value: Value,
  { status = 200, headers = {} }: AnswerOptions = {}
): JsonAnswer<Value> => HttpServerResponse.jsonUnsafe(value, { status, headers }) as JsonAnswer<Value>

/** An answer whose body is already serialized JSON; node sends the head and a text body in one piece. */
export const writtenJsonAnswer = <Value>(
  json: Uint8Array | string,
  { status = 200, headers = {} }: AnswerOptions = {}
): JsonAnswer<Value> => {
  const options = { status, headers, contentType: "application/json" }
  return (
    typeof json === "string" ? HttpServerResponse.text(json, options) : HttpServerResponse.uint8Array(json, options)
  ) as JsonAnswer<Value>
}

const lasting = new WeakSet<Answer>()

/** An answer that is sent many times: its head is checked once. Throws for one that node would refuse to write. */
export const lastingAnswer = <A extends Answer>(answer: A): A => {
  assertSendable(answer)
  lasting.add(answer)
  return answer
}

/** Throws for a head that node would refuse to write when it is too late to answer with an error. */
export const assertSendable = (answer: Answer): void => {
  if (lasting.has(answer)) return
  const { status, headers } = answer
  if (status < 200 || status > 599) throw new RangeError(`${status} is not the status of an answer`)
  for (const name in headers) {
    validateHeaderName(name)
    validateHeaderValue(name, headers[name] ?? "")
  }
}

/** A refusal that an API writes itself, in place of any endpoint's answer. */
export type RefusalAnswer = JsonAnswer<never>

/** An answer in a dialect that the endpoint declares beside its own, in place of the endpoint's own answer. */
export const dialectAnswer = (answer: Answer): JsonAnswer<never> => answer as JsonAnswer<never>

/** All the bytes at once, with their length. */
export const bytesAnswer = (bytes: Uint8Array, contentType: string, options: AnswerOptions = {}): Answer =>
  HttpServerResponse.uint8Array(bytes, { status: options.status ?? 200, headers: options.headers ?? {}, contentType })

export const emptyAnswer = ({ status = 204, headers = {} }: AnswerOptions = {}): Answer =>
  HttpServerResponse.empty({ status, headers })

/** The answer with additional headers. */
export const withHeaders = <A extends Answer>(answer: A, headers: Readonly<Record<string, string>>): A =>
  HttpServerResponse.setHeaders(answer, headers) as A

interface StreamOptions extends AnswerOptions {
  readonly contentType: string
  /** Sent as Content-Length; the stream must have exactly this length. */
  readonly contentBytes?: number
}

export type Bytes = Uint8Array<ArrayBufferLike>

/**
 * Bytes as they come. A later failure breaks the connection, so that no client takes a partial answer for a complete
 * one.
 */
export const streamAnswer = Effect.fnUntraced(function* <E, R>(
  stream: Stream.Stream<Bytes, E, R>,
  options: StreamOptions
) {
  const context = yield* Effect.context<R>()
  const pull = yield* Stream.toPull(stream)
  const first = yield* firstOf(pull)
  // The body is written outside the handler, where the request's id and span are no longer in context.
  const rest = Stream.fromPull(Effect.succeed(Effect.provideContext(Effect.tapCause(pull, logBreak), context)))
  const body = first._tag === "Ended" ? Stream.empty : Stream.concat(Stream.fromArray(first.items), rest)
  return HttpServerResponse.stream(body, {
    status: options.status ?? 200,
    headers: options.headers ?? {},
    contentType: options.contentType,
    contentLength: options.contentBytes
  })
})

/** The first piece of a stream, or its end. The caller handles its failure. */
const firstOf = <A, E, R>(pull: Pull.Pull<A, E, void, R>) =>
  Pull.matchEffect(pull, {
    onSuccess: (items) => Effect.succeed({ _tag: "Items" as const, items }),
    onFailure: (cause) => Effect.failCause(cause),
    onDone: () => Effect.succeed({ _tag: "Ended" as const })
  })

/** Logs why an answer broke off; its status is already sent. */
export const logBreak = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Pull.isDoneCause(cause) || Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.logError("an answer broke off after its first byte", cause)

interface DownloadOptions extends AnswerOptions {
  readonly contentType: string
  /** The length of the stream, known in advance. */
  readonly bytes: number
  /** The name under which a browser saves it; without one, a browser can show it inline. */
  readonly fileName?: string
}

/** A defect: the file does not have the announced length. */
class WrongLength extends Schema.TaggedError<WrongLength>()("WrongLength", {
  announced: Schema.Int,
  found: Schema.Int
}) {
  override get message() {
    return `${this.announced} bytes were announced, ${this.found} were there`
  }
}

/**
 * A file to save, sent with its length, so that a client can tell a complete file from a broken one. A stream that
 * turns out longer or shorter breaks the connection. Fails if the stream fails before its first piece.
 */
export const downloadAnswer = <E, R>(
  stream: Stream.Stream<Bytes, E, R>,
  { contentType, bytes, fileName, status, headers = {} }: DownloadOptions
) =>
  streamAnswer(ofLength(stream, bytes), {
    ...(status === undefined ? {} : { status }),
    contentType,
    contentBytes: bytes,
    headers: fileName === undefined ? headers : { ...headers, "content-disposition": attachment(fileName) }
  })

/** Dies before the first excess byte, and at an end that comes too early. */
const ofLength = <E, R>(stream: Stream.Stream<Bytes, E, R>, announced: number): Stream.Stream<Bytes, E, R> =>
  Stream.suspend(() => {
    let found = 0
    const wrong = () => Stream.die(new WrongLength({ announced, found }))
    const counted = Stream.flatMap(stream, (piece) => {
      found += piece.length
      return found > announced ? wrong() : Stream.make(piece)
    })
    return Stream.concat(
      counted,
      Stream.suspend(() => (found === announced ? Stream.empty : wrong()))
    )
  })

/** RFC 6266: a name that every client can read, and the real one for clients that support RFC 8187. */
const attachment = (fileName: string) => {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/gu, "_")
  const encoded = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** The common steps of every handler: it reads its place in a list, and turns the broker's failures into refusals. */
import { Effect, Option } from "effect"
import { type BusError, type SourceMessage, StreamReader } from "#bus"
import { pageSizeDefault, pageSizeMax } from "#contracts"
import { HttpCall, internalError, notFound, serviceUnavailable, validationFailed, WireError } from "#http"
import { Configuration } from "#runtime"

/** Options for the routes of all groups. */
export const apiOptions = { bodyBytesMax: Effect.map(Configuration, ({ Console }) => Console.BodyBytesMax) }

// With the broker away, a caller may retry at once.
const soonSeconds = 1

/** Turns every failure of the broker into a refusal. */
export const refusing = <A, R>(work: Effect.Effect<A, BusError | WireError, R>): Effect.Effect<A, WireError, R> =>
  Effect.catch(work, (error): Effect.Effect<never, WireError> => {
    if (error instanceof WireError) return Effect.fail(error)
    if (error._tag === "BusUnavailable") return Effect.fail(serviceUnavailable(soonSeconds, "the broker is away"))
    return Effect.andThen(
      Effect.logError("the broker refused what it should not have", error),
      Effect.fail(internalError())
    )
  })

interface PageRequest {
  readonly limit?: string
  readonly cursor?: string
}

export interface Place {
  /** The page has only what comes before this sequence. */
  readonly before: number
  readonly limit: number
}

const sequencePattern = /^\d{1,15}$/u

/** The place that a list's query names; fails with every fault. */
export const placeOf = ({ limit, cursor }: PageRequest): Effect.Effect<Place, WireError> => {
  const count = limit === undefined ? pageSizeDefault : Number(limit)
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(cursor)
  const faults = {
    ...(count < 1 || count > pageSizeMax ? { limit: `must be from 1 to ${pageSizeMax}` } : {}),
    ...(before === undefined ? { cursor: "is not the nextCursor of a page" } : {})
  }
  return before === undefined || Object.keys(faults).length > 0
    ? Effect.fail(validationFailed(faults))
    : Effect.succeed({ before, limit: count })
}

const cursorVersion = "1:"

const cursorOf = (sequence: number) => Buffer.from(`${cursorVersion}${sequence}`).toString("base64url")

const readCursor = (cursor: string): number | undefined => {
  const text = Buffer.from(cursor, "base64url").toString()
  const digits = text.slice(cursorVersion.length)
  return text.startsWith(cursorVersion) && sequencePattern.test(digits) ? Number(digits) : undefined
}

/** A page of a stream, newest first. Messages that `view` cannot read are left out. */
export const pageOf = <A>(
  stream: string,
  { before, limit }: Place,
  { subject, view }: { readonly subject: string; readonly view: (message: SourceMessage) => Option.Option<A> }
) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const messages = yield* refusing(reader.newest(stream, { before, subject, messagesMax: limit }))
    const last = messages.at(-1)
    return {
      items: messages.flatMap((message) => Option.toArray(view(message))),
      nextCursor: last === undefined || messages.length < limit ? null : cursorOf(last.sequence)
    }
  })

/** The message that the path names, where the stream has it on a subject of that form. */
export const messageOf = Effect.fnUntraced(function* (stream: string, what: string) {
  const text = (yield* HttpCall).params["sequence"] ?? ""
  const reader = yield* StreamReader
  if (!sequencePattern.test(text)) return yield* notFound(`no such ${what}`)
  const sequence = Number(text)
  const found = yield* refusing(reader.next(stream, sequence))
  if (Option.isNone(found) || found.value.sequence !== sequence) return yield* notFound(`no such ${what}`)
  return found.value
})

/**
 * The common steps of every handler: reading its position in a list, and turning the broker's failures into refusals.
 */
import { Effect, Option, Stream } from "effect"
import { type BusError, type SourceMessage, StreamReader } from "#bus"
import { type Fault, pageSizeDefault, pageSizeMax } from "#base"
import {
  type Answer,
  Auth,
  Caller,
  HttpCall,
  Idempotency,
  idempotencyKey,
  internalError,
  jsonFingerprint,
  notFound,
  serviceUnavailable,
  validationFailed,
  WireError
} from "#http"
import { Configuration } from "#configuration"

/** Options for the routes of all groups. */
export const apiOptions = { bodyBytesMax: Effect.map(Configuration, ({ Console }) => Console.BodyBytesMax) }

// With the broker away, a caller can retry at once.
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

/** Faults by the names of their fields. */
export const fieldsOf = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(faults.map(({ path, message }) => [path.slice(1).replaceAll("/", ".") || "settings", message]))

export interface KeyedAct {
  /** Without one the action is simply done. */
  readonly key: string | undefined
  /** What the first run of the action selected, up to a position in a stream; a later run gets the same. */
  readonly upTo: <R>(choose: Effect.Effect<number, WireError, R>) => Effect.Effect<number, WireError, R>
}

/**
 * Does an action once per `Idempotency-Key`. `asked`: everything the key stands for, beside what the path names. A
 * refusal frees the key, because nothing was done.
 */
export const once = <A extends Answer, R>(
  asked: unknown,
  act: (keyed: KeyedAct) => Effect.Effect<A, BusError | WireError, R>
) =>
  Effect.gen(function* () {
    const key = yield* idempotencyKey(undefined)
    const { workspace } = yield* Caller
    const { route, params } = yield* HttpCall
    const request = {
      workspace,
      route: `POST ${route}`,
      key: key === undefined ? undefined : JSON.stringify([params, key]),
      fingerprint: jsonFingerprint(asked),
      keepsRefusals: false
    }
    const { run, chosen } = yield* Idempotency
    return yield* run(request, refusing(act({ key, upTo: (choose) => chosen(request, choose) })))
  })

export interface PageRequest {
  readonly limit?: string
  readonly cursor?: string
}

export interface PageCursor {
  /** The page has only entries before this sequence. */
  readonly before: number
  readonly limit: number
}

const sequencePattern = /^\d{1,15}$/u

/** The position named by a list's query; fails with every fault. */
export const placeOf = Effect.fnUntraced(function* (asked: PageRequest) {
  const faults = { ...faultOfLimit(asked), ...faultOfCursor(asked, sequencePattern) }
  if (Object.keys(faults).length > 0) return yield* validationFailed(faults)
  const place: PageCursor = {
    before: asked.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursorContent(asked.cursor)),
    limit: limitIn(asked)
  }
  return place
})

/** The number of entries before the page of a list that grows and shrinks only slowly. */
export const offsetOf = Effect.fnUntraced(function* (asked: PageRequest) {
  const { before, limit } = yield* placeOf(asked)
  return { offset: asked.cursor === undefined ? 0 : before, limit }
})

const placePattern = /^\d{1,15}\.\d{1,3}$/u

/** The limit of a list whose cursors are line positions, and the content of such a cursor; fails with every fault. */
export const linePlaceOf = (asked: PageRequest) => entryPlaceOf(asked, placePattern)

/** The same for a list whose cursors have a form of their own. */
export const entryPlaceOf = Effect.fnUntraced(function* (asked: PageRequest, pattern: RegExp) {
  const faults = { ...faultOfLimit(asked), ...faultOfCursor(asked, pattern) }
  if (Object.keys(faults).length > 0) return yield* validationFailed(faults)
  return { limit: limitIn(asked), from: asked.cursor === undefined ? undefined : cursorContent(asked.cursor) }
})

const limitIn = ({ limit }: PageRequest) => (limit === undefined ? pageSizeDefault : Number(limit))

const faultOfLimit = (asked: PageRequest) =>
  limitIn(asked) < 1 || limitIn(asked) > pageSizeMax ? { limit: `must be from 1 to ${pageSizeMax}` } : {}

const faultOfCursor = ({ cursor }: PageRequest, pattern: RegExp) =>
  cursor === undefined || pattern.test(cursorContent(cursor)) ? {} : { cursor: "is not the nextCursor of a page" }

const cursorVersion = "1:"

export const cursorText = (content: string) => Buffer.from(`${cursorVersion}${content}`).toString("base64url")

/** Empty for an invalid cursor. */
const cursorContent = (cursor: string): string => {
  const text = Buffer.from(cursor, "base64url").toString()
  return text.startsWith(cursorVersion) ? text.slice(cursorVersion.length) : ""
}

interface TimeRequest {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** A request's time bounds, in epoch milliseconds. */
export const timesOf = Effect.fnUntraced(function* ({ since, until }: TimeRequest) {
  const sinceMs = since === undefined ? undefined : Date.parse(since)
  const untilMs = until === undefined ? undefined : Date.parse(until)
  if ((sinceMs ?? 0) > (untilMs ?? Number.POSITIVE_INFINITY))
    return yield* validationFailed({ since: "is after until" })
  return { sinceMs, untilMs }
})

/** A page of a stream, newest first. Messages that `view` cannot read are skipped. */
export const pageOf = <A>(
  stream: string,
  { before, limit }: PageCursor,
  { subject, view }: { readonly subject: string; readonly view: (message: SourceMessage) => Option.Option<A> }
) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const messages = yield* refusing(reader.newest(stream, { before, subject, messagesMax: limit }))
    const last = messages.at(-1)
    return {
      items: messages.flatMap((message) => Option.toArray(view(message))),
      nextCursor: last === undefined || messages.length < limit ? null : cursorText(String(last.sequence))
    }
  })

/** The message named by the path, if the stream has it on a subject of that form. */
export const messageOf = Effect.fnUntraced(function* (stream: string, what: string) {
  const text = (yield* HttpCall).params["sequence"] ?? ""
  const reader = yield* StreamReader
  if (!sequencePattern.test(text)) return yield* notFound(`no such ${what}`)
  const sequence = Number(text)
  const found = yield* refusing(reader.next(stream, sequence))
  if (Option.isNone(found) || found.value.sequence !== sequence) return yield* notFound(`no such ${what}`)
  return found.value
})

// A found token is valid for four seconds: within five the stream has ended.
const askedEvery = "1 second"

/**
 * A stream that stays open for hours ends with the token that opened it, as a call would be refused. `onOver`: sent at
 * the end of the session; without it the stream ends normally.
 */
export const whileSignedIn = <A, E, R, E2 = never>(
  stream: Stream.Stream<A, E, R>,
  onOver: Effect.Effect<void, E2> = Effect.void
): Stream.Stream<A, E | E2, R | Auth | HttpCall> =>
  Stream.unwrap(
    Effect.map(Auth, ({ identify }) => {
      // An unreachable broker proves nothing against the caller.
      const isRefused = identify.pipe(
        Effect.as(false),
        Effect.catch(({ status }) => Effect.succeed(status === 401)),
        Effect.delay(askedEvery)
      )
      const isOver = Effect.repeat(isRefused, { until: (is) => is })
      return Stream.interruptWhen(stream, Effect.andThen(isOver, onOver))
    })
  )

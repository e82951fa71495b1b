/**
 * Lists in pages. A cursor is the place after which the next page starts, in an order that no change of an entry moves.
 * Pure.
 */
import { Effect, Option } from "effect"
import { type ViewRow, Views } from "#actors"
import { pageSizeDefault, pageSizeMax } from "#contracts"
import { validationFailed, type WireError } from "#http"

interface PageRequest {
  readonly limit?: string
  readonly cursor?: string
}

export interface Place {
  readonly after: string | undefined
  readonly limit: number
}

export const placeOf = ({ limit, cursor }: PageRequest): Effect.Effect<Place, WireError> => {
  const count = limit === undefined ? pageSizeDefault : Number(limit)
  const after = cursor === undefined ? Option.some(undefined) : readCursor(cursor)
  const faults = {
    ...(count < 1 || count > pageSizeMax ? { limit: `must be from 1 to ${pageSizeMax}` } : {}),
    ...(Option.isNone(after) ? { cursor: "is not the nextCursor of a page" } : {})
  }
  return Option.isNone(after) || Object.keys(faults).length > 0
    ? Effect.fail(validationFailed(faults))
    : Effect.succeed({ after: after.value, limit: count })
}

const cursorVersion = "1:"

export const cursorOf = (key: string): string => Buffer.from(`${cursorVersion}${key}`).toString("base64url")

const readCursor = (cursor: string): Option.Option<string | undefined> => {
  const text = Buffer.from(cursor, "base64url").toString()
  return text.startsWith(cursorVersion) && cursorOf(text.slice(cursorVersion.length)) === cursor
    ? Option.some(text.slice(cursorVersion.length))
    : Option.none()
}

/** `entries` must be in the order of their keys. */
export const pageOf = <A>(entries: ReadonlyArray<A>, keyOf: (entry: A) => string, { after, limit }: Place) => {
  const rest = after === undefined ? entries : entries.filter((entry) => keyOf(entry) > after)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || rest.length <= limit ? null : cursorOf(keyOf(last)) }
}

// Times of this millennium have thirteen digits; the longest possible have sixteen.
const timeDigits = 16

/** The order of the views: by creation, oldest first. */
export const rowKey = ({ createdAtMs, id }: Pick<ViewRow, "createdAtMs" | "id">): string =>
  `${String(createdAtMs).padStart(timeDigits, "0")}:${id}`

/** The freshness that every list states. */
export const freshness = Effect.map(Views, (views) => views.freshness())

/** Things with what became of them below, as lines; and the newest messages of a stream that are wanted. */
import { Clock, Effect, Option } from "effect"
import { type SourceMessage, StreamReader } from "#bus"
import { type TraceKind, type TraceLine, traceLinesMax } from "#console/api"

export interface Thing {
  readonly kind: TraceKind
  readonly id: string
  readonly at: string | null
  readonly text: string
  readonly below: ReadonlyArray<Thing>
}

export interface Found {
  readonly things: ReadonlyArray<Thing>
  readonly notes: ReadonlyArray<string>
}

/** Everything that was found, in one; each note once. Pure. */
export const together = (founds: ReadonlyArray<Found>): Found => ({
  things: founds.flatMap(({ things }) => things),
  notes: [...new Set(founds.flatMap(({ notes }) => notes))]
})

/** A line for each thing, below what it belongs to. Pure. */
export const linesOf = (things: ReadonlyArray<Thing>, depth = 0): ReadonlyArray<TraceLine> =>
  things.flatMap(({ below, ...thing }) => [{ depth, ...thing }, ...linesOf(below, depth + 1)])

/** As many lines as an answer holds, with a note on the others. Pure. */
export const fitting = ({ things, notes }: Found) => {
  const lines = linesOf(things)
  const left = lines.length - traceLinesMax
  return left <= 0
    ? { lines, notes }
    : { lines: lines.slice(0, traceLinesMax), notes: [...notes, `${left} more lines do not fit.`] }
}

const messagesAtOnce = 256
/** Some eighty requests to the broker. */
const messagesReadMax = 20_480
// A caller waits for a few searches after each other.
export const searchWithinMs = 3_000

interface Search {
  readonly stream: string
  readonly subject: string
  readonly wants: (message: SourceMessage) => boolean
  readonly foundMax: number
}

/** The newest first. The note says how far back the search went, where it did not reach the stream's beginning. */
export const newestWanted = Effect.fnUntraced(function* ({ stream, subject, wants, foundMax }: Search) {
  const reader = yield* StreamReader
  const endsAtMs = (yield* Clock.currentTimeMillis) + searchWithinMs
  const found: Array<SourceMessage> = []
  let before = Number.MAX_SAFE_INTEGER
  let read = 0
  while (read < messagesReadMax && (yield* Clock.currentTimeMillis) < endsAtMs) {
    const messages = yield* reader.newest(stream, { before, subject, messagesMax: messagesAtOnce })
    for (const message of messages) {
      read += 1
      before = message.sequence
      if (wants(message)) found.push(message)
      if (found.length === foundMax) return { found, notes: [`The newest ${foundMax} of ${stream} are shown.`] }
    }
    if (messages.length < messagesAtOnce) return { found, notes: [] }
  }
  return { found, notes: [`Only the newest ${read} messages of ${stream} were looked through.`] }
})

/** Whether a message's bytes hold a text. */
export const holds = ({ data }: SourceMessage, text: string) =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(text)

/** The message at a place of a stream. */
export const messageAt = Effect.fnUntraced(function* (stream: string, sequence: number) {
  const found = yield* (yield* StreamReader).next(stream, sequence)
  return Option.filter(found, (message) => message.sequence === sequence)
})

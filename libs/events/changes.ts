/**
 * Changes of event types declared at run time, as pure decisions over their records. What held before a change stays in
 * the record for a while: events that were stored before it are judged by it.
 */
import { Result } from "effect"
import type { Fault } from "#base"
import { sameJson } from "#base/json"
import { decodeEventType, type EventTypeEntry, type EventTypeRecord } from "#events/contract"
import { readEventType } from "./event-types.ts"
import { EventTypeExists, EventTypeWasChanged, InvalidEventType } from "./errors.ts"

export interface Act {
  readonly at: string
  readonly by: string
}

interface Context {
  readonly act: Act
  /** The last event in EVENTS: the change holds for those after it. */
  readonly lastEvent: number
  /** The first that is still kept. */
  readonly firstEvent: number
}

/** A record to store; `isSame`: it is stored already. */
export interface Decided {
  readonly record: EventTypeRecord
  readonly isSame: boolean
}

/** The same declaration again changes nothing. */
export const decideDeclaration = (
  before: EventTypeRecord | undefined,
  given: unknown,
  { act, lastEvent }: Context
): Result.Result<Decided, InvalidEventType | EventTypeExists> =>
  Result.flatMap(checked(given), (settings): Result.Result<Decided, EventTypeExists> => {
    if (before !== undefined) {
      return sameJson(before.settings, settings)
        ? Result.succeed({ record: before, isSame: true })
        : Result.fail(new EventTypeExists({ name: before.name }))
    }
    const name = settings.Name
    const record = { name, revision: 1, startsAfter: lastEvent, settings, past: [], created: act, changed: act }
    return Result.succeed({ record, isSame: false })
  })

export interface TypeChange {
  /** The revision that the caller has seen. */
  readonly revision: number
  /** Keys to change; null gives a key its default again. */
  readonly changes: Readonly<Record<string, unknown>>
}

/** A change that would refuse the example of before needs another SchemaVersion: it is not additive. */
export const decideChange = (
  before: EventTypeRecord,
  { revision, changes }: TypeChange,
  context: Context
): Result.Result<Decided, InvalidEventType | EventTypeWasChanged> =>
  Result.flatMap(
    checked(merged(before.settings, changes)),
    (settings): Result.Result<Decided, InvalidEventType | EventTypeWasChanged> => {
      if (sameJson(before.settings, settings)) return Result.succeed({ record: before, isSame: true })
      if (before.revision !== revision) {
        return Result.fail(new EventTypeWasChanged({ name: before.name, revision: before.revision }))
      }
      const faults = [...renaming(before, settings), ...breaking(before, settings)]
      if (faults.length > 0) return Result.fail(new InvalidEventType({ faults }))
      const { act, lastEvent } = context
      const record = {
        ...before,
        revision: revision + 1,
        startsAfter: lastEvent,
        settings,
        past: pastOf(before, context)
      }
      return Result.succeed({ record: { ...record, changed: act }, isSame: false })
    }
  )

// A value of the bucket holds a few of the largest schemas.
const recordBytesMax = 320 * 1_024
const pastMax = 8

const pastOf = (before: EventTypeRecord, { lastEvent, firstEvent }: Context): EventTypeRecord["past"] => {
  const { startsAfter, settings } = before
  const all = [{ startsAfter, settings }, ...before.past]
  // One after which no event was stored, or of which none is kept, judges nothing.
  const needed = all.filter((tenure, index) => {
    const until = all[index - 1]?.startsAfter ?? lastEvent
    return tenure.startsAfter < until && until >= firstEvent
  })
  let bytes = 0
  return needed
    .slice(0, pastMax)
    .filter((tenure) => (bytes += Buffer.byteLength(JSON.stringify(tenure))) <= recordBytesMax)
}

const checked = (given: unknown): Result.Result<EventTypeEntry, InvalidEventType> =>
  Result.mapError(
    Result.flatMap(decodeEventType(given), (entry) => Result.map(readEventType(entry), () => entry)),
    (faults) => new InvalidEventType({ faults })
  )

const merged = (before: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null))

const renaming = ({ name }: EventTypeRecord, { Name }: EventTypeEntry): ReadonlyArray<Fault> =>
  Name === name ? [] : [{ path: "/Name", message: "an event type keeps its name; declare another" }]

const breaking = (before: EventTypeRecord, settings: EventTypeEntry): ReadonlyArray<Fault> => {
  const example: unknown = before.settings["Example"]
  if (example === undefined || before.settings["SchemaVersion"] !== settings.SchemaVersion) return []
  const { Example: _, ...rest } = settings
  const type = readEventType(rest)
  return (Result.isSuccess(type) ? type.success.check(example) : []).map(({ path, message }) => ({
    path: "/Schema",
    message: `it refuses the example of before (${path === "" ? "" : `${path}: `}${message}): give it another SchemaVersion`
  }))
}

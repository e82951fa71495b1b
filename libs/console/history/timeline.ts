/** What happened to the fleet, as two looks at it tell, and the list of it. Pure. */
import { Schema } from "effect"
import { Count, isoTime } from "#base"
import { Happening, happeningsMax } from "#console/api"
import type { Scan } from "#console/readings"

const hourMs = 3_600_000
export const hoursKept = 31 * 24
/** What happens in an hour beyond this is one storm. */
const inHourMax = 100

/** What happened in an hour, as the bucket `history` keeps it. */
export const HappeningsOfHour = Schema.Struct({
  number: Count,
  happenings: Schema.Array(Happening).check(Schema.isMaxLength(inHourMax))
})
export interface HappeningsOfHour extends Schema.Schema.Type<typeof HappeningsOfHour> {}

export const hourNumberOf = ({ at }: Pick<Happening, "at">) => Math.floor(Date.parse(at) / hourMs)

/** The hour with what is new in it; undefined where nothing is. */
export const hourWith = (
  before: HappeningsOfHour | undefined,
  number: number,
  happened: ReadonlyArray<Happening>
): HappeningsOfHour | undefined => {
  const had = before?.number === number ? before.happenings : []
  const happenings = withNew(had, happened).slice(0, inHourMax)
  return happenings.length === had.length ? undefined : { number, happenings }
}

// Two consoles do not look at the same moment.
const sameWithinMs = 20_000

const isSame = (left: Happening, right: Happening) =>
  left.id === right.id && Math.abs(Date.parse(left.at) - Date.parse(right.at)) <= sameWithinMs

const withNew = (had: ReadonlyArray<Happening>, happened: ReadonlyArray<Happening>): ReadonlyArray<Happening> =>
  happened.reduce<ReadonlyArray<Happening>>(
    (all, one) => (all.some((other) => isSame(one, other)) ? all : [...all, one]),
    had
  )

/** The newest of both lists, newest first. */
export const newestOf = (had: ReadonlyArray<Happening>, happened: ReadonlyArray<Happening>, nowMs: number) =>
  withNew(had, happened)
    .filter(({ at }) => nowMs - Date.parse(at) < hoursKept * hourMs)
    .toSorted((left, right) => Date.parse(right.at) - Date.parse(left.at))
    .slice(0, happeningsMax)

/** What a look remembers for the next one. */
export interface Noted {
  readonly open: ReadonlySet<string>
  readonly started: ReadonlySet<string>
}

interface Noticed {
  readonly noted: Noted
  readonly happened: ReadonlyArray<Happening>
}

/** Breakers that opened and closed since the look before, and processes that started. */
export const noticed = (before: Noted | undefined, { frame, reading, targets }: Scan): Noticed => {
  const open = new Set(frame.breakersOpen)
  // A breaker of a process that does not answer is not closed.
  const isWhole = targets.every(({ url }) => reading.targets.get(url) !== undefined)
  const known = before?.open ?? open
  const at = isoTime(reading.atMs)
  const opened = [...open].filter((name) => !known.has(name))
  const closed = isWhole ? [...known].filter((name) => !open.has(name)) : []
  const breaker = (change: "opened" | "closed") => (name: string) =>
    happening({
      id: `breaker ${change} ${name}`,
      at,
      kind: "breaker",
      change,
      what: `The breaker of ${name} ${change}`
    })
  const starts = startsIn(frame, reading)
  const started = starts.filter(({ id }) => before?.started.has(id) !== true)
  return {
    noted: {
      open: isWhole ? open : new Set([...known, ...open]),
      started: new Set(starts.map(({ id }) => id))
    },
    happened: [...opened.map(breaker("opened")), ...closed.map(breaker("closed")), ...started]
  }
}

type Bare = Pick<Happening, "id" | "at" | "kind" | "change" | "what"> & Partial<Happening>

/** A sentence that is too long ends early. */
export const happening = ({ id, what, ...rest }: Bare): Happening => ({
  severity: null,
  by: null,
  ...rest,
  id: id.slice(0, 600),
  what: what.slice(0, 400)
})

const startsIn = (frame: Scan["frame"], reading: Scan["reading"]): ReadonlyArray<Happening> =>
  [...reading.targets].flatMap(([url, exposition]) => {
    const seconds = exposition?.get("process_start_time_seconds")?.[0]?.value
    const rows = frame.roles.filter(({ at, version }) => at === url && version !== null)
    const [first] = rows
    if (seconds === undefined || first === undefined) return []
    const roles = rows.map(({ role }) => role).join(", ")
    return [
      happening({
        id: `process ${url} ${Math.floor(seconds)}`,
        at: isoTime(Math.floor(seconds) * 1_000),
        kind: "process",
        change: "started",
        what: `Release ${first.version} started at ${url}: ${roles}`
      })
    ]
  })

export interface Held {
  readonly key: string
  readonly holder: string
}

// Named of those that a process took at once.
const namedMax = 5

/** Leases that another process holds than before, by who took them. */
export const taken = (before: ReadonlyMap<string, string>, held: ReadonlyArray<Held>, nowMs: number) => {
  const fresh = held.filter(({ key, holder }) => before.get(key) !== holder)
  const byHolder = Map.groupBy(fresh, ({ holder }) => holder)
  return [...byHolder].map(([holder, leases]) => {
    const keys = leases.map(({ key }) => key)
    const more = keys.length > namedMax ? ` and ${keys.length - namedMax} more` : ""
    const named = `${keys.slice(0, namedMax).join(", ")}${more}`
    return happening({
      id: `lease ${holder} ${named}`,
      at: isoTime(nowMs),
      kind: "lease",
      change: "taken",
      what: `${keys.length === 1 ? "The lease" : "The leases"} ${named} went to this process`,
      by: holder
    })
  })
}

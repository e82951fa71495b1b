/**
 * The rows of the views that a process keeps, within a bound. Where there are more, those go first that have ended:
 * nobody has anything to do with them but to look at them and, long after, to retire them. What was left out is known
 * by its key, as many as the bucket holds, and is asked for again when there is room.
 */
import { Option } from "effect"
import { viewKey, type ViewRow } from "./view-row.ts"

export interface LeftOut {
  readonly ended: number
  /** Somebody waits for these. */
  readonly moving: number
}

export interface ViewIndex {
  readonly keep: (key: string, row: ViewRow) => void
  readonly forget: (key: string) => void
  readonly rowsOf: (entity: string) => ReadonlyArray<ViewRow>
  readonly find: (entity: string, id: string) => Option.Option<ViewRow>
  readonly leftOut: () => LeftOut
  /** Keys of rows that there is room for again, at most so many, those first that somebody waits for. */
  readonly wanted: (keysMax: number) => ReadonlyArray<string>
}

/** What has ended has a deadline of that name, by which it is retired. */
const hasEnded = ({ deadlinesMs }: ViewRow) => deadlinesMs["ended"] !== undefined

// Of rows that ended and did not, time and again.
const staleKeysMax = 1_000

export const viewIndex = (rowsMax: number): ViewIndex => {
  const rows = new Map<string, Map<string, ViewRow>>()
  const places = new Map<string, { readonly entity: string; readonly id: string }>()
  const ended = new Set<string>()
  // The last that ended goes first: the first is the next to be retired. Some of these keys are not there any more.
  let endings: Array<string> = []
  const out = new Map<string, boolean>()
  let moving = 0

  const comeBack = (key: string) => {
    if (out.get(key) === false) moving -= 1
    out.delete(key)
  }
  const leaveOut = (key: string, row: ViewRow) => {
    comeBack(key)
    out.set(key, hasEnded(row))
    if (!hasEnded(row)) moving += 1
  }
  const drop = (key: string): ViewRow | undefined => {
    const place = places.get(key)
    if (place === undefined) return undefined
    places.delete(key)
    ended.delete(key)
    const row = rows.get(place.entity)?.get(place.id)
    // One that moved to another project is under its new key already.
    if (row === undefined || viewKey(row) !== key) return undefined
    rows.get(place.entity)?.delete(place.id)
    return row
  }
  const makeRoom = (): boolean => {
    for (let key = endings.pop(); key !== undefined; key = endings.pop()) {
      if (!ended.has(key)) continue
      const row = drop(key)
      if (row !== undefined) leaveOut(key, row)
      return true
    }
    return false
  }
  const noteEnding = (key: string) => {
    if (ended.has(key)) return
    ended.add(key)
    endings.push(key)
    if (endings.length > 2 * ended.size + staleKeysMax) endings = [...ended]
  }

  return {
    keep: (key, row) => {
      const ofEntity = rows.get(row.entity) ?? new Map<string, ViewRow>()
      // An entity that moved to another project: what is under its old key is older and goes next.
      const before = ofEntity.get(row.id)
      if (before !== undefined && before.sequence > row.sequence) return
      const isFull = !places.has(key) && places.size >= rowsMax
      if (isFull && (hasEnded(row) || !makeRoom())) return leaveOut(key, row)
      comeBack(key)
      rows.set(row.entity, ofEntity.set(row.id, row))
      places.set(key, { entity: row.entity, id: row.id })
      if (hasEnded(row)) noteEnding(key)
      else ended.delete(key)
    },
    forget: (key) => {
      comeBack(key)
      drop(key)
    },
    rowsOf: (entity) => [...(rows.get(entity)?.values() ?? [])],
    find: (entity, id) => Option.fromNullishOr(rows.get(entity)?.get(id)),
    leftOut: () => ({ ended: out.size - moving, moving }),
    wanted: (keysMax) => {
      const room = rowsMax - places.size
      const movingMax = Math.min(room + ended.size, moving, keysMax)
      const endedMax = Math.min(room - movingMax, keysMax - movingMax)
      if (movingMax <= 0 && endedMax <= 0) return []
      const keys = { moving: [] as Array<string>, ended: [] as Array<string> }
      for (const [key, isEnded] of out) {
        if (!isEnded && keys.moving.length < movingMax) keys.moving.push(key)
        if (isEnded && keys.ended.length < endedMax) keys.ended.push(key)
      }
      return [...keys.moving, ...keys.ended]
    }
  }
}

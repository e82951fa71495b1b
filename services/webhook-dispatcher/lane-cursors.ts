/**
 * The state derived from the cursors of all lanes: how many lanes exist, whether all use that number, and in which lane
 * an endpoint's deliveries are made while endpoints move between lanes. Pure.
 */
import { deliveryLaneOf } from "#webhooks/contract"
import { type FanOutCursor, firstNeeded } from "#webhooks"

/** The cursors of all lanes, as read at one moment. */
export interface LaneCursors {
  /** Lanes that endpoints are spread over. */
  readonly count: number
  /** The previous number, while endpoints still move. */
  readonly before: number | undefined
  /** By lane; undefined where no fan-out ever ran. */
  readonly cursors: ReadonlyArray<FanOutCursor | undefined>
}

/** The number of lanes that a cursor uses. */
export const lanesOf = (cursor: FanOutCursor | undefined) => cursor?.lanes ?? 1

/** Whether every lane uses the same number. Until then no lane takes an endpoint over. */
export const areAligned = ({ count, cursors }: LaneCursors) =>
  cursors.every((cursor) => cursor !== undefined && lanesOf(cursor) === count)

/** The lane from which an endpoint's deliveries are made now. */
export const homeOf = ({ count, before, cursors }: LaneCursors, endpointId: string): number => {
  if (before === undefined) return deliveryLaneOf(endpointId, count)
  const leaving = cursors.findIndex((cursor) => cursor?.left?.[endpointId] !== undefined)
  if (leaving !== -1) return leaving
  const stillThere = cursors.findIndex(
    (cursor, lane) =>
      cursor !== undefined && lanesOf(cursor) !== count && deliveryLaneOf(endpointId, lanesOf(cursor)) === lane
  )
  return stillThere === -1 ? deliveryLaneOf(endpointId, count) : stillThere
}

/**
 * The cursor of a lane that uses another number: the endpoints that no longer belong to it leave, each with the first
 * event it still needs. `known`: the lane's endpoints that are present.
 */
export const rearranged = (
  cursor: FanOutCursor,
  { lane, count, known }: { readonly lane: number; readonly count: number; readonly known: Iterable<string> }
): FanOutCursor => {
  const left: Record<string, number> = { ...cursor.left }
  const next = { ...cursor.next }
  for (const id of known) {
    if (deliveryLaneOf(id, count) === lane || left[id] !== undefined) continue
    left[id] = next[id] ?? firstNeeded(cursor, id)
    delete next[id]
  }
  return { ...cursor, next, lanes: count, ...(Object.keys(left).length === 0 ? {} : { left }) }
}

/** The cursor without an endpoint that another lane has taken over, or that is gone. */
export const withoutLeft = (cursor: FanOutCursor, ids: Iterable<string>): FanOutCursor => {
  const { left = {}, ...others } = cursor
  const rest = { ...left }
  for (const id of ids) delete rest[id]
  return Object.keys(rest).length === 0 ? others : { ...others, left: rest }
}

/** Whether an endpoint belongs to this lane by the number that its cursor uses. */
export const isOwn = (cursor: FanOutCursor, lane: number, id: string) =>
  deliveryLaneOf(id, lanesOf(cursor)) === lane && cursor.left?.[id] === undefined

/** Whether a delivery found in a lane must be made from another one, to which its endpoint has moved. */
export const hasMoved = (now: LaneCursors, endpointId: string, lane: number) =>
  deliveryLaneOf(endpointId, now.count) !== lane && homeOf(now, endpointId) !== lane

/** Moves of the fan-out's cursor: its beginning, and endpoints that fall out of step or come back in. Pure. */
import type { FanOutCursor } from "#webhooks"

/** The cursor of a fan-out that never ran: events published before it belong to no endpoint. */
export const beginCursor = (lastSequence: number): FanOutCursor => ({
  position: lastSequence,
  through: null,
  next: {},
  roster: ""
})

/** Whether this endpoint already has the event after `position`. */
export const hasNextEvent = (cursor: FanOutCursor, endpointId: string) =>
  cursor.through !== null && endpointId <= cursor.through

/** The first event that an endpoint in step still needs. */
export const firstNeeded = (cursor: FanOutCursor, endpointId: string) =>
  cursor.position + (hasNextEvent(cursor, endpointId) ? 2 : 1)

/** Takes an endpoint out of step at its place; one that is already out stays where it is. */
export const park = (cursor: FanOutCursor, endpointId: string): FanOutCursor =>
  cursor.next[endpointId] === undefined
    ? { ...cursor, next: { ...cursor.next, [endpointId]: firstNeeded(cursor, endpointId) } }
    : cursor

/** Puts every endpoint whose need meets the position back in step, except those that must stay parked. */
export const join = (cursor: FanOutCursor, staysParked: (endpointId: string) => boolean): FanOutCursor => {
  const met = Object.keys(cursor.next).filter((id) => cursor.next[id] === firstNeeded(cursor, id) && !staysParked(id))
  if (met.length === 0) return cursor
  const next = { ...cursor.next }
  for (const id of met) delete next[id]
  return { ...cursor, next }
}

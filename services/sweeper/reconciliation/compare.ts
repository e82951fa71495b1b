/**
 * LOG beside what is made of it. Every event that a record says must be in EVENTS, by the id it was published under;
 * and every entity that the views show must be shown as of its last record, or a later one. Pure.
 */
import type { ViewRow } from "#actors"

/** A record as it is compared. */
export interface Recorded {
  readonly sequence: number
  readonly entity: string
  readonly id: string
  /** How many events it says. */
  readonly events: number
  readonly atMs: number
}

/** An event that was made from LOG, by the id it was published under. */
export interface Announced {
  readonly record: number
  readonly index: number
}

const pattern = /^log\.(\d{1,15})\.(\d{1,6})$/u

/** Nothing for an event that others published. */
export const announcedBy = (messageId: string | undefined): Announced | undefined => {
  const [, record, index] = pattern.exec(messageId ?? "") ?? []
  return record === undefined || index === undefined ? undefined : { record: Number(record), index: Number(index) }
}

/** The ids of the events that are not there. Of records before `keptSinceMs` EVENTS keeps none any more. */
export const missingEvents = (
  records: ReadonlyArray<Recorded>,
  isThere: (id: string) => boolean,
  keptSinceMs: number
): ReadonlyArray<string> =>
  records
    .filter(({ atMs }) => atMs >= keptSinceMs)
    .flatMap(({ sequence, events }) => Array.from({ length: events }, (_, index) => `log.${sequence}.${index}`))
    .filter((id) => !isThere(id))

/** Entities that are shown as they were before their last record, though the views have come that far. */
export const outdatedViews = (
  records: ReadonlyArray<Recorded>,
  find: (entity: string, id: string) => Pick<ViewRow, "sequence"> | undefined,
  viewsPosition: number
): ReadonlyArray<string> => {
  const last = new Map<string, Recorded>()
  for (const record of records) {
    if (record.sequence <= viewsPosition) last.set(`${record.entity} ${record.id}`, record)
  }
  return [...last].flatMap(([name, { entity, id, sequence }]) => {
    const row = find(entity, id)
    return row !== undefined && row.sequence < sequence ? [name] : []
  })
}

/**
 * Records that this process wrote, by the object that holds their bytes: who reads one back, and is handed that very
 * object, knows what it says. It says what was decided, for a decision holds nothing that does not survive being
 * written. Lasts as long as the object does.
 */
import type { ActorRecord } from "./record.ts"

const records = new WeakMap<Uint8Array, ActorRecord<unknown, unknown>>()

/** `data`: the record, written. */
export const noteOwnRecord = (data: Uint8Array, record: ActorRecord<unknown, unknown>): void => {
  records.set(data, record)
}

/** Nothing for what others wrote, and for what is not known any more. */
export const ownRecord = (data: Uint8Array): ActorRecord<unknown, unknown> | undefined => records.get(data)

/** Event types and their settings, as data. */
export { decodeEventType, EventTypeEntry, EventTypeRecord, Owner } from "./event-types.ts"
export { Events, eventTypesMax, repeatedTypes } from "./settings.ts"

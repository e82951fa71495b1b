/** Event types and their settings, as data. */
export { decodeEventType, EventTypeEntry, EventTypeRecord, Owner } from "./event-types.ts"
export { PublishAnswer, StoredEventPlace } from "./publishing.ts"
export { Events, eventTypesMax, repeatedTypes } from "./settings.ts"

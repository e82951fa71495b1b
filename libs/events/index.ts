/** Event types: which events a deployment's services may publish, by whom, and in which shape. */
export { detailsSchemaFile, envelopeSchemaOf, exampleEnvelopeOf } from "./documents.ts"
export { type DetailsCheck, detailsCheck } from "./details-schema.ts"
export { type EventType, readEventType } from "./event-types.ts"
export {
  type EventTypeFailure,
  EventTypeExists,
  EventTypeIsConfigured,
  EventTypeWasChanged,
  InvalidEventType,
  NoSuchEventType,
  TooManyEventTypes
} from "./errors.ts"
export { EventTypeDeclarations } from "./EventTypeDeclarations.ts"
export { configuredTypes, EventTypes } from "./EventTypes.ts"
export { cameAsCloudEvent, type EventMessage, openEvent, type OpenedEvent } from "./open-event.ts"
export { type DeclaredTypes, faultsOfContent, type GivenEvent, judgeEvent, type JudgedEvent } from "./judgement.ts"

/** Endpoints and abandoned deliveries as they are kept, for the commands that show and change them. */
export { EndpointStates } from "./EndpointStates.ts"
export { fanOutRecordCodec } from "./fan-out-cursor.ts"
export { redrive, type RedriveQuery } from "./redrive.ts"
export { type Roster, rosterCodec } from "./roster.ts"

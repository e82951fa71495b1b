/** Endpoints and abandoned deliveries as stored, for the commands that show and change them. */
export { redrive, type RedriveQuery } from "./abandoned.ts"
export { EndpointStates } from "./endpoint-states.ts"
export { fanOutRecordCodec } from "./fan-out/cursor.ts"

export { type Roster, rosterCodec } from "./fan-out/roster.ts"

/** Consents as stored, for the command that shows them. */
export { Consents } from "./voices/Consents.ts"
export type { ConsentRecord } from "./voices/records.ts"
export { VoiceFiles } from "./voices/VoiceFiles.ts"

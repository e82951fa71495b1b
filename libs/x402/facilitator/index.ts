/** Facilitators: the client's side and the serving side. */
export {
  type FacilitatorAnswer,
  readFacilitatorRequest,
  settleAnswer,
  supportedAnswer,
  verifyAnswer
} from "./answers.ts"
export { type Facilitator, type FacilitatorOptions, openFacilitator } from "./Facilitator.ts"
export { remoteScheme } from "./remote-scheme.ts"

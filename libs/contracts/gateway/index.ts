/** The model gateway's wire: what is asked of it, what it answers, and how it refuses. */
export * from "./answers.ts"
export { type CostlyParameter, costlyParameters } from "./costly-parameters.ts"
export { type ErrorType, type GatewayCode, type GatewayCodeEntry, gatewayCodes } from "./error-codes.ts"
export * from "./requests.ts"

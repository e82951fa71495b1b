/** The fleet as its processes show it: their metrics and readiness, read and joined to a frame. */
export { parseExposition } from "./readings.ts"
export type { EndpointRow, Frame, LatencyRow } from "./frame.ts"
export { framesOf, processesMax, readinessOf } from "./scrape.ts"
export type { RoleRow, Target } from "./role-rows.ts"

/** The fleet as its processes show it: their metrics and readiness, read and joined to a frame. */
export { parseExposition, quantileOf, type Reading, type SeriesSample, type Window, windowOf } from "./readings.ts"
export type { EndpointRow, Frame, LatencyRow } from "./frame.ts"
export { framesOf, processesMax, type Scan } from "./scrape.ts"
export type { RoleRow, Target } from "./role-rows.ts"

/** The fleet as its processes show it: their metrics and readiness, read and joined to a frame. */
export { parseExposition } from "./readings.ts"
export {
  type EndpointRow,
  type Frame,
  framesOf,
  type LatencyRow,
  processesMax,
  readinessOf,
  type RoleRow,
  type Target
} from "./frame.ts"

/** The project actor, as the rest of the role sees it. */
export { capDeferral, type InFlight } from "./caps.ts"
export { holdsOf, isQueuePaused } from "./holds.ts"
export { project } from "./project.ts"
export { projectProjection } from "./projection.ts"
export { workItemSettingsOf } from "./work-item-settings.ts"

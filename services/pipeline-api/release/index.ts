/** The release actor, as the rest of the role sees it. */
export { release } from "./release.ts"
export { releaseTransitions } from "./transitions.ts"
export { releaseProjection } from "./projection.ts"

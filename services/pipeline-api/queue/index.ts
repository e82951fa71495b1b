/** The pickup queue's actor, as the rest of the role sees it. */
export { queue } from "./queue.ts"
export { queueProjection } from "./projection.ts"

/** The agent actor, as the rest of the role sees it. */
export { agent } from "./agent.ts"
export { holdOf, holdsOf } from "./standing.ts"
export { agentProjection } from "./projection.ts"

/** The work item actor, as the rest of the role sees it. */
export { progressGrainMs } from "./dispatch.ts"
export { eventItem } from "./envelope.ts"
export { agentOf, isEnded, isReady, iterationOf, phaseOf } from "./phases.ts"
export { workItemOfSuggestion } from "./suggestions.ts"
export { transitions, whenLeftBehind } from "./transitions.ts"
export { workItemProjection } from "./projection.ts"
export { workItem } from "./work-item.ts"

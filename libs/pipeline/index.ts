/**
 * The actors of the pipeline: what each decides on a command, what a fact makes of its state, which events tell of it,
 * and what lists show. All of it is pure: chance and whatever comes from outside is in the command, and the time is the
 * record's.
 */
export { type CommandOf, definitionOf, definitions, entityNames, type StateOf } from "./definitions.ts"

export { agent } from "./agent/agent.ts"
export { agentHold, agentHolds } from "./agent/standing.ts"
export { agentProjection } from "./agent/projection.ts"

export { capDeferral, type InFlight } from "./project/caps.ts"
export { isQueuePaused, projectHolds } from "./project/holds.ts"
export { project } from "./project/project.ts"
export { projectProjection } from "./project/projection.ts"
export { workItemSettingsOf } from "./project/work-item-settings.ts"

export { queue } from "./queue/queue.ts"
export { queueProjection } from "./queue/projection.ts"

export { release } from "./release/release.ts"
export { releaseProjection } from "./release/projection.ts"
export { releaseTransitions } from "./release/transitions.ts"

export { eventItem } from "./work-item/envelope.ts"
export { agentOf, isEnded, isReady, iterationOf, phaseOf } from "./work-item/phases.ts"
export { progressGrainMs } from "./work-item/dispatch.ts"
export { transitions, whenLeftBehind } from "./work-item/transitions.ts"
export { workItem } from "./work-item/work-item.ts"
export { workItemOfSuggestion } from "./work-item/questions.ts"
export { workItemProjection } from "./work-item/projection.ts"

/**
 * The actors of the pipeline: what each decides on a command, what a fact makes of its state, which events tell of it,
 * and what lists show. All of it is pure: chance and whatever comes from outside is in the command, and the time is the
 * record's.
 */
export { type CommandOf, definitionOf, definitions, entityNames, type StateOf } from "./definitions.ts"

export { agent, agentProjection } from "./agent/agent.ts"
export { agentHold, agentHolds } from "./agent/holds.ts"

export { isQueuePaused, projectHolds } from "./project/holds.ts"
export { project, projectProjection, projectSnapshot } from "./project/project.ts"
export { capDeferral, type InFlight, workItemSettingsOf } from "./project/settings.ts"

export { queue, queueProjection } from "./queue.ts"

export { releaseProjection } from "./release/projection.ts"
export { release } from "./release/release.ts"
export { releaseTransitions } from "./release/transitions.ts"

export { progressGrainMs } from "./work-item/dispatch.ts"
export { eventItem } from "./work-item/concern.ts"
export { agentOf, isEnded, isReady, iterationOf, phaseOf } from "./work-item/states.ts"
export { workItemProjection } from "./work-item/projection.ts"
export { workItemOfSuggestion } from "./work-item/questions.ts"
export { transitions, whenLeftBehind } from "./work-item/states.ts"
export { workItem } from "./work-item/work-item.ts"

/**
 * Log-backed actors: pure decisions over an entity's facts, with one record per decision as the only source of truth.
 */
import { commandSeconds, commandsTotal, conflictsTotal } from "./actors.ts"
import { eventsPublishedTotal } from "./event-relay.ts"
import { viewsWritten } from "./views/projector.ts"
import { viewsBehind, viewsLeftOut } from "./views/views.ts"

export { Actors, type CommandAddress, type CommandError, type Outcome } from "./actors.ts"
export {
  type ActorRecord,
  decideRecord,
  factsMax,
  type FoundUniqueKey,
  type ActorState,
  type Precondition,
  recentCommandsMax,
  recordCodec,
  recordHeadCodec,
  replay,
  type UniqueKey
} from "./record.ts"
export {
  type ActorDefinition,
  type EventDraft,
  type DecisionContext,
  EntityBusy,
  EntityNotFound,
  PreconditionFailed,
  type Projection,
  Refusal
} from "./definition.ts"
export { eventRelay, eventRelayPlace } from "./event-relay.ts"
export { projectViews } from "./views/projector.ts"
export {
  entityProjection,
  type EntityProjection,
  summaryReader,
  type SummaryRow,
  type ViewFreshness,
  ViewRow,
  Views,
  type ViewsOptions
} from "./views/views.ts"

/** The actors' metrics, for the generated page. */
export const actorMetrics = [
  commandsTotal,
  commandSeconds,
  conflictsTotal,
  eventsPublishedTotal,
  viewsWritten,
  viewsBehind,
  viewsLeftOut
]

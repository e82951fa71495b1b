/**
 * The complete role pipeline-api. Its main path: a command arrives over HTTP (`http/`) or the bus
 * (`answer-commands.ts`), passes `Commands`, and is decided by an actor of libs/pipeline; the decision is one record of
 * LOG, and a relay turns it into events. Runners take work from `pickup/`; `reports/` takes in their reports;
 * `follow-ups/` carries out a record's consequences for other actors. `events/` takes in events of a deployment's own
 * services.
 *
 * in: HTTP on PipelineApi.Port; `commands.<entity>`, `pickup.next.<agent kind>`, `pickup.held`, `publish.<name>`
 * (requests); `reports.<kind>` (work queue); KV `event-types`
 * out: LOG, and from it EVENTS, KV `views`, and the resulting commands for other entities
 * state: LOG alone; KV `answers` (operators' answers, until a runner has them), `cursors`, `idempotency`; KV `tokens`
 * and `spend` are read, `token-uses` written
 * when something fails: a decision is one record or none; every decision becomes events, views and follow-ups however
 * often a process dies in between; a report is handed back until it is decided; a full or unreachable log is a 503
 */
import { randomUUID } from "node:crypto"
import { Effect, Latch, Layer } from "effect"
import { Actors, entityProjection, eventRelay, projectViews, Views } from "#actors"
import {
  Auth,
  type CorsPolicy,
  crossOrigin,
  descriptionRoutes,
  HttpListener,
  Idempotency,
  Tokens,
  TokenUses
} from "#http"
import { agentProjection, projectProjection, queueProjection, releaseProjection, workItemProjection } from "#pipeline"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { redactorLayer, supervise } from "#runtime"
import { Answers, Commands } from "./Commands.ts"
import { History } from "./History.ts"
import { Creation } from "./Creation.ts"
import { Routing } from "./Routing.ts"
import { answerCommands } from "./answer-commands.ts"
import { FollowUpCommands, FollowUps } from "./follow-ups/FollowUps.ts"
import { EventIntake } from "./events/EventIntake.ts"
import { answerPublishing } from "./events/answer-publishing.ts"
import { eventRoutes } from "./http/events.ts"
import { fleetRoutes } from "./http/fleet.ts"
import { projectRoutes, Spend } from "./http/projects.ts"
import { releaseRoutes } from "./http/releases.ts"
import { workItemRoutes } from "./http/work-items.ts"
import { pipelineDocuments } from "./documents.ts"
import { Dispatches } from "./pickup/Dispatches.ts"
import { InFlightCount } from "./pickup/InFlightCount.ts"
import { answerHeld, answerPickups } from "./pickup/answer-pickups.ts"
import { FullDisks } from "./pickup/FullDisks.ts"
import { Pickup } from "./pickup/Pickup.ts"
import { Ready } from "./pickup/Ready.ts"
import { ReportIntake } from "./reports/ReportIntake.ts"
import { Reports } from "./reports/Reports.ts"

export const pipelineRoutes = [
  ...workItemRoutes,
  ...releaseRoutes,
  ...projectRoutes,
  ...fleetRoutes,
  ...eventRoutes,
  ...descriptionRoutes(pipelineDocuments)
] as const

/** What pages of other origins can send, and read of the answers. */
const pipelineCors = (origins: CorsPolicy["origins"]): CorsPolicy => ({
  origins,
  requestHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "traceparent", "X-Request-Id"],
  exposedHeaders: ["Retry-After", "WWW-Authenticate", "Idempotent-Replayed", "Location", "X-Request-Id"]
})

const listener = Layer.unwrap(
  Effect.map(Configuration, ({ PipelineApi }) =>
    HttpListener.layer({
      name: "pipeline-api",
      host: PipelineApi.Host,
      port: PipelineApi.Port,
      routes: crossOrigin(pipelineRoutes),
      cors: pipelineCors(PipelineApi.AllowedOrigins)
    })
  )
)

const address = HttpListener.announced("pipeline-api")

/** Answers requests over the bus. */
const answering = Layer.effectDiscard(
  Effect.all([answerCommands, answerPickups, answerHeld, answerPublishing], { discard: true })
)

const projections = [
  entityProjection(workItemProjection),
  entityProjection(releaseProjection),
  entityProjection(projectProjection),
  entityProjection(agentProjection),
  entityProjection(queueProjection)
]

/** This process's name in leases. */
const holder = randomUUID()

const events = Layer.effectDiscard(
  Effect.gen(function* () {
    const started = yield* Latch.make()
    yield* Effect.forkScoped(supervise("announce", yield* eventRelay(started.open)))
    yield* started.await
  })
)

const views = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Effect.forkScoped(supervise("views", yield* projectViews({ holder, projections })))
  })
)

/** The endless loops: the log's events, its views, its follow-ups, and the intake of reports. */
const loops = Layer.mergeAll(events, views, FollowUps.layer(holder), ReportIntake.layer(holder))

const eventTypes = Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events)))

const ready = Layer.unwrap(Effect.map(Configuration, ({ PipelineApi }) => Ready.layer(PipelineApi.PickupWaitersMax)))

const parts = Layer.mergeAll(
  Pickup.layer,
  Reports.layer,
  FollowUpCommands.layer,
  Creation.layer,
  EventIntake.layer.pipe(Layer.provide(eventTypes))
).pipe(
  Layer.provideMerge(Layer.mergeAll(Dispatches.layer, FullDisks.layer)),
  Layer.provideMerge(InFlightCount.layer),
  Layer.provideMerge(Layer.mergeAll(ready, Routing.layer)),
  Layer.provideMerge(Commands.layer),
  Layer.provideMerge(
    Layer.mergeAll(Actors.layer, Views.layer(), Answers.layer, redactorLayer, History.layer, Spend.layer)
  ),
  Layer.provideMerge(
    Layer.mergeAll(Auth.layer().pipe(Layer.provide([Tokens.layer, TokenUses.layer])), Idempotency.layer())
  )
)

/** The role with its listener exposed. Needs the bus and the runtime. */
export const pipelineApiWith = Layer.mergeAll(address, answering, loops).pipe(
  Layer.provideMerge(listener),
  Layer.provide(parts)
)

export const pipelineApi = Layer.mergeAll(address, answering, loops).pipe(Layer.provide(listener), Layer.provide(parts))

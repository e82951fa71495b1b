/**
 * The role pipeline-api, whole.
 *
 * in: HTTP on PipelineApi.Port; `commands.<entity>` and `pickup.next.<agent kind>`, `pickup.held` (requests); `reports.<kind>` (work queue)
 * out: LOG, and from it EVENTS, KV `views`, and the commands that follow for other entities
 * state: LOG alone; KV `answers` (what operators wrote, until a runner has it), `cursors`, `idempotency`; KV `tokens` and `spend` are read, `token-uses` written
 * failure policy: a decision is one record or none; what was decided becomes events, views and follow-ups however often a
 * process dies in between; a report is handed back until it was decided on; a log that is full or away is 503
 */
import { Effect, Layer } from "effect"
import { Actors, Views } from "#actors"
import { Auth, crossOrigin, HttpListener, Idempotency, Tokens, TokenUses } from "#http"
import { Addresses, Configuration, redactorLayer } from "#runtime"
import { Answers } from "./Answers.ts"
import { answerCommands } from "./bus/answer-commands.ts"
import { answerHeld } from "./bus/answer-held.ts"
import { answerPickups } from "./bus/answer-pickups.ts"
import { Commands } from "./Commands.ts"
import { pipelineCors } from "./cors.ts"
import { CarryOn } from "./follow-ups/CarryOn.ts"
import { History } from "./History.ts"
import { pipelineRoutes } from "./http/routes.ts"
import { ItemCreation } from "./ItemCreation.ts"
import { loops } from "./loops.ts"
import { Dispatches } from "./pickup/Dispatches.ts"
import { FullDisks } from "./pickup/FullDisks.ts"
import { InFlightCount } from "./pickup/InFlightCount.ts"
import { Pickup } from "./pickup/Pickup.ts"
import { Ready } from "./pickup/Ready.ts"
import { Reports } from "./reports/Reports.ts"
import { Routing } from "./Routing.ts"
import { Spend } from "./Spend.ts"

const ready = Layer.unwrap(Effect.map(Configuration, ({ PipelineApi }) => Ready.layer(PipelineApi.PickupWaitersMax)))

const parts = Layer.mergeAll(Pickup.layer, Reports.layer, CarryOn.layer, ItemCreation.layer).pipe(
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

const shown = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    yield* (yield* Addresses).add("pipeline-api", url)
  })
)

const answering = Layer.effectDiscard(Effect.andThen(Effect.andThen(answerCommands, answerPickups), answerHeld))

/** With its listener in reach. Needs the bus and the runtime. */
export const pipelineApiWith = Layer.mergeAll(shown, answering, loops).pipe(
  Layer.provideMerge(listener),
  Layer.provide(parts)
)

export const pipelineApi = Layer.mergeAll(shown, answering, loops).pipe(Layer.provide(listener), Layer.provide(parts))

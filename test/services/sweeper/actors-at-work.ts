/**
 * A sweeper's surroundings: a bus, the actors behind `commands.<entity>`, and the views of their log. The actors are
 * the real ones; only the role that serves them is left out.
 */
import { Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type ActorDefinition, Actors, entityProjection, projectViews, Views } from "#actors"
import { jsonCodec, Requests, StreamReader } from "#bus"
import { CommandAnswer, CommandRequest } from "#pipeline/contract"
import { type Envelope, subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain } from "#runtime"
import { agent, agentProjection, project, projectProjection, workItem, workItemProjection } from "#pipeline"
import { busOn } from "../../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import { CommandClient } from "../../../services/sweeper/command-client.ts"
import { Checkpoints } from "../../../services/sweeper/sweeps.ts"

const question = jsonCodec(CommandRequest)
const answer = jsonCodec(CommandAnswer)

const answering = Effect.fnUntraced(function* <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>
) {
  const actors = yield* Actors
  const requests = yield* Requests
  yield* requests.answer({
    subject: subjects.commands(definition.entity),
    queueGroup: "actors",
    question,
    answer,
    concurrency: 64,
    handler: ({ id, commandId, command }) =>
      actors.run(definition, { id, commandId }, command as Command).pipe(
        Effect.map(({ was, sequence }): CommandAnswer => ({ _tag: "Accepted", was, sequence, state: {} })),
        Effect.catch((error) =>
          Effect.succeed<CommandAnswer>(
            error._tag === "Refusal"
              ? { _tag: "Refused", state: error.state, reason: error.reason }
              : error._tag === "EntityNotFound"
                ? { _tag: "NotFound", entity: error.entity, id: error.id }
                : { _tag: "Busy", retryAfterMs: 10 }
          )
        )
      )
  })
})

export const serveAgents = answering(agent)

/** Answers commands of items and projects, and projects views, until the scope closes. */
export const serveItems = Effect.gen(function* () {
  yield* answering(workItem)
  yield* answering(project)
  const projections = [
    entityProjection(workItemProjection),
    entityProjection(projectProjection),
    entityProjection(agentProjection)
  ]
  yield* Effect.forkScoped(yield* projectViews({ holder: "test", projections }))
})

export const serveActors = Effect.andThen(serveAgents, serveItems)

/** A fleet's process on that server, for a sweeper: its own services, with this configuration. */
export const processOn = (server: TestNatsServer, configuration: unknown = {}) =>
  Layer.mergeAll(CommandClient.layer, Checkpoints.layer, Views.layer(), Actors.layer).pipe(
    Layer.provideMerge(Drain.layer),
    Layer.provideMerge(busOn(server)),
    Layer.provideMerge(Configuration.layerOf(configuration))
  )

/** Runs in a process of its own. */
export const inProcess = <A, E, R>(server: TestNatsServer, configuration: unknown, work: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.provide(work, Layer.fresh(processOn(server, configuration))))

const record = jsonCodec(Schema.Struct({ events: Schema.Array(Schema.Unknown) }))

/** The events of an entity in LOG, in order. */
export const eventsOf = Effect.fnUntraced(function* (entity: string, id: string) {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("LOG")
  const messages = yield* Stream.runCollect(
    reader.range("LOG", { fromSequence: 1, toSequence: lastSequence, subject: subjects.log(entity, id) })
  )
  return messages.flatMap((message) => {
    const read = record.decode(message)
    return Result.isSuccess(read) ? (read.success.events as ReadonlyArray<Envelope>) : []
  })
})

/** A row of the views, if it exists. */
export const rowOf = (entity: string, id: string) =>
  Effect.map(Views, (views) => Option.getOrUndefined(views.find(entity, id)))

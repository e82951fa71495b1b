import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Result, Schema, Stream } from "effect"
import { Actors, eventRelay, recordHeadCodec } from "#actors"
import { jsonCodec, Publisher, StreamReader } from "#bus"
import { subjects } from "#base"
import { busOn, natsServer, withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { jar } from "./jar.ts"

const fill = (id: string, commandId: string, coins = 1) =>
  Effect.flatMap(Actors, (actors) => actors.run(jar, { id, commandId }, { _tag: "Fill", coins }))
const open = (id: string) =>
  Effect.flatMap(Actors, (actors) => actors.run(jar, { id, commandId: `open-${id}` }, { _tag: "Open" }))
const coins = (id: string) =>
  Effect.map(
    Effect.flatMap(Actors, (actors) => actors.read(jar, id)),
    Option.map(({ state }) => state.coins)
  )

const withActors = <A, E, R>(test: Effect.Effect<A, E, R>) => withBus(() => Effect.provide(test, Actors.layer))

describe("an entity", () => {
  it.live("keeps its decisions, even for a process that never saw it", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.andThen(open("a jar of ours"), fill("a jar of ours", "1", 5)).pipe(
        Effect.provide(Actors.layer.pipe(Layer.provideMerge(busOn(server))))
      )
      const later = yield* coins("a jar of ours").pipe(
        Effect.provide(Actors.layer.pipe(Layer.provideMerge(busOn(server))))
      )
      assert.deepStrictEqual(later, Option.some(5))
    })
  )

  it.live("carries out a command once, however often it is sent", () =>
    withActors(
      Effect.gen(function* () {
        yield* open("a")
        const all = yield* Effect.all(
          Array.from({ length: 20 }, () => fill("a", "same", 7)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(all.filter(({ was }) => was === "decided").length, 1)
        assert.strictEqual(all.filter(({ was }) => was === "repeated").length, 19)
        assert.deepStrictEqual(yield* coins("a"), Option.some(7))
      })
    )
  )

  it.live("loses no command when two replicas decide at once", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = (name: string) =>
        Effect.all(
          Array.from({ length: 100 }, (_, index) => fill("hot", `${name}-${index}`)),
          { concurrency: 16 }
        ).pipe(Effect.provide(Layer.fresh(Actors.layer).pipe(Layer.provideMerge(Layer.fresh(busOn(server))))))
      const look = Effect.provide(coins("hot"), Actors.layer.pipe(Layer.provideMerge(busOn(server))))
      yield* open("hot").pipe(Effect.provide(Actors.layer.pipe(Layer.provideMerge(busOn(server)))))
      yield* Effect.all([replica("one"), replica("two")], { concurrency: 2 })
      assert.deepStrictEqual(yield* look, Option.some(200))
    })
  )

  it.live("refuses by the log's newest state, not by an older one", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = () => Layer.fresh(Actors.layer).pipe(Layer.provideMerge(Layer.fresh(busOn(server))))
      const stale = yield* Layer.build(replica())
      const other = yield* Layer.build(replica())
      yield* Effect.provide(open("a"), stale)
      yield* Effect.provide(fill("a", "1", 1_000_000), stale)
      const full = yield* Effect.exit(Effect.provide(fill("a", "2"), other))
      assert.isTrue(Exit.isFailure(full))
      // The other breaks it and the first still remembers a full one: gone, not full.
      yield* Effect.provide(
        Effect.flatMap(Actors, (actors) => actors.run(jar, { id: "a", commandId: "3" }, { _tag: "Break" })),
        other
      )
      const gone = yield* Effect.flip(Effect.provide(fill("a", "4"), stale))
      assert.strictEqual(gone._tag, "EntityNotFound")
    })
  )

  it.live("that is retired takes no command and is not found, even under its old id", () =>
    withActors(
      Effect.gen(function* () {
        yield* open("a")
        yield* Effect.flatMap(Actors, (actors) => actors.run(jar, { id: "a", commandId: "b" }, { _tag: "Break" }))
        assert.strictEqual((yield* Effect.flip(open("a").pipe(Effect.andThen(fill("a", "x")))))._tag, "EntityNotFound")
        assert.deepStrictEqual(yield* coins("a"), Option.none())
      })
    )
  )
})

describe("a command with a precondition on another entity", () => {
  const fillWhile = (id: string, commandId: string, sequence: number) =>
    Effect.flatMap(Actors, (actors) =>
      actors.run(
        jar,
        { id, commandId, preconditions: [{ entity: "jar", id: "gate", sequence }] },
        { _tag: "Fill", coins: 1 }
      )
    )

  it.live("is carried out while that entity is unchanged, and refused once it has changed", () =>
    withActors(
      Effect.gen(function* () {
        const gate = yield* open("gate")
        yield* open("a")
        assert.strictEqual((yield* fillWhile("a", "1", gate.sequence)).was, "decided")
        yield* fill("gate", "2")
        assert.strictEqual((yield* Effect.flip(fillWhile("a", "3", gate.sequence)))._tag, "PreconditionFailed")
        assert.deepStrictEqual(yield* coins("a"), Option.some(1))
      })
    )
  )

  it.live("is decided again when its own entity has changed meanwhile", () =>
    withActors(
      Effect.gen(function* () {
        const gate = yield* open("gate")
        yield* open("a")
        const both = yield* Effect.all(
          Array.from({ length: 20 }, (_, index) => fillWhile("a", `n${index}`, gate.sequence)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(both.filter(({ was }) => was === "decided").length, 20)
        assert.deepStrictEqual(yield* coins("a"), Option.some(20))
      })
    )
  )
})

describe("the published events", () => {
  const readEvents = Effect.gen(function* () {
    const reader = yield* StreamReader
    const { lastSequence } = yield* reader.bounds("EVENTS")
    const all = yield* Stream.runCollect(reader.range("EVENTS", { fromSequence: 1, toSequence: lastSequence }))
    return all.filter(({ subject }) => subject !== subjects.eventsCursor)
  })

  it.live("are all events of all records, in the order of the log, once each", () =>
    withActors(
      Effect.scoped(
        Effect.gen(function* () {
          yield* open("a")
          yield* Effect.all(Array.from({ length: 300 }, (_, index) => fill("a", `before-${index}`)))
          yield* Effect.forkScoped(Effect.flatten(eventRelay(Effect.void)))
          yield* Effect.all(Array.from({ length: 50 }, (_, index) => fill("a", `after-${index}`)))
          yield* eventually(readEvents, { is: (events) => events.length >= 351 })
          const events = yield* readEvents
          const decode = jsonCodec(
            Schema.Struct({ event: Schema.String, details: Schema.Struct({ coins: Schema.Int }) })
          )
          const told = events.map((message) => Result.getOrThrow(decode.decode(message)).details.coins)
          assert.deepStrictEqual(
            told,
            Array.from({ length: 351 }, (_, index) => index)
          )
        })
      )
    )
  )

  it.live("resume from their cursor, past an unreadable record", () =>
    withActors(
      Effect.gen(function* () {
        yield* open("a")
        const count = Effect.map(readEvents, (events) => events.length)
        const relayUntil = (events: number) =>
          Effect.raceFirst(
            Effect.scoped(Effect.flatten(eventRelay(Effect.void))),
            eventually(count, { is: (now) => now >= events })
          )
        yield* relayUntil(1)
        const publisher = yield* Publisher
        yield* publisher.publishRaw(subjects.log("jar", "broken"), new TextEncoder().encode("{"))
        yield* fill("a", "1")
        yield* relayUntil(2)
        const reader = yield* StreamReader
        assert.strictEqual((yield* reader.bounds("REJECTED")).messages, 1)
        const last = Option.getOrThrow(yield* reader.last("LOG", subjects.log("jar", "a")))
        assert.strictEqual(Result.getOrThrow(recordHeadCodec.decode(last)).commandId, "1")
        assert.strictEqual(yield* count, 2)
      })
    )
  )
})

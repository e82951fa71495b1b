import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { Actors, entityProjection, projectViews, Views, type ViewsOptions } from "#actors"
import { Publisher, StreamReader } from "#bus"
import { subjects } from "#base"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { jar } from "../jar.ts"

const projection = entityProjection({
  entity: "jar",
  state: jar.state,
  show: (state, id) => ({
    project: id.startsWith("big") ? "cellar" : null,
    state: state.isOpen ? "Open" : "Absent",
    createdAtMs: 1,
    updatedAtMs: 2,
    deadlinesMs: state.coins > 1_000 ? { ended: state.coins } : state.coins > 100 ? { empty: state.coins } : {},
    summary: { coins: state.coins }
  })
})

const run = (id: string, commandId: string, command: Parameters<typeof jar.decide>[1]) =>
  Effect.flatMap(Actors, (actors) => actors.run(jar, { id, commandId }, command))
const open = (id: string) => run(id, "open", { _tag: "Open" })
const fill = (id: string, commandId: string, coins: number) => run(id, commandId, { _tag: "Fill", coins })

const whileProjected = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(projectViews({ holder: "one", projections: [projection] }), (projecting) =>
    Effect.raceFirst(test, projecting)
  )

const shown = Effect.map(Views, (views) => views.list({ entity: "jar" }))
const coinsShown = Effect.map(shown, (rows) => rows.map(({ id, summary }) => [id, summary["coins"]]))

const withViews = <A, E, R>(test: Effect.Effect<A, E, R>, options: ViewsOptions = {}) =>
  withBus(() => Effect.scoped(Effect.provide(test, Layer.mergeAll(Actors.layer, Views.layer(options)))))

describe("the views", () => {
  it.live("show every entity's last record, and say that nothing is missing", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          yield* open("a")
          yield* open("b")
          for (let coins = 1; coins <= 20; coins++) yield* fill("a", `f${coins}`, 1)
          yield* eventually(shown, { is: (rows) => rows.length === 2 && rows[0]?.summary["coins"] === 20 })
          const views = yield* Views
          yield* eventually(() => views.freshness().behind, { is: 0 })
          assert.deepStrictEqual(yield* coinsShown, [
            ["a", 20],
            ["b", 0]
          ])
          assert.strictEqual(Option.getOrThrow(views.find("jar", "a")).state, "Open")
        })
      )
    )
  )

  it.live("wake who waits for them to move on from a record, and let nobody wait who knows an older one", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          const views = yield* Views
          const reader = yield* StreamReader
          const showAll = Effect.map(
            reader.bounds("LOG"),
            ({ lastSequence }) => lastSequence > 0 && views.freshness().sequence === lastSequence
          )
          yield* open("a")
          yield* eventually(showAll)
          const { sequence } = views.freshness()
          const waiting = yield* Effect.forEach([1, 2], () => Effect.forkChild(views.movedFrom(sequence)))
          yield* open("b")
          yield* Effect.forEach(waiting, Fiber.join)
          assert.isAbove(views.freshness().sequence, sequence)
          yield* views.movedFrom(sequence)
          yield* eventually(showAll)
          // That nothing comes has no other sign.
          const isMoved = views.movedFrom(views.freshness().sequence)
          assert.isTrue(Option.isNone(yield* Effect.timeoutOption(isMoved, "50 millis")))
        })
      )
    )
  )

  it.live("find the entities of one project, in one state, or due", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          yield* open("small")
          yield* open("big one")
          yield* fill("big one", "1", 500)
          const views = yield* Views
          const due = () => views.due("jar", "empty", 500).map(({ id }) => id)
          yield* eventually(() => due().length, { is: 1 })
          assert.deepStrictEqual(due(), ["big one"])
          assert.deepStrictEqual(views.due("jar", "empty", 499), [])
          const ids = views.list({ entity: "jar", project: "cellar", states: ["Open"] }).map(({ id }) => id)
          assert.deepStrictEqual(ids, ["big one"])
          assert.deepStrictEqual(views.list({ entity: "jar", states: ["Absent"] }), [])
        })
      )
    )
  )

  it.live("above their bound drop ended entities, say what is missing, and bring it back", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          const views = yield* Views
          const isShown = (...ids: ReadonlyArray<string>) =>
            eventually(() => {
              const { isTruncated } = views.freshness()
              return isTruncated && views.isComplete() && ids.every((id) => Option.isSome(views.find("jar", id)))
            })
          yield* open("a")
          yield* fill("a", "1", 2_000)
          yield* open("b")
          yield* open("c")
          yield* isShown("b", "c")
          assert.isTrue(Option.isNone(views.find("jar", "a")))
          yield* open("d")
          yield* eventually(() => !views.isComplete())
          yield* fill("b", "1", 2_000)
          yield* isShown("c", "d")
          yield* run("c", "break", { _tag: "Break" })
          yield* run("d", "break", { _tag: "Break" })
          yield* eventually(() => !views.freshness().isTruncated)
          assert.sameMembers(
            views.list({ entity: "jar" }).map(({ id }) => id),
            ["a", "b"]
          )
        })
      ),
      { rowsMax: 2 }
    )
  )

  it.live("forget retired entities", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          yield* open("a")
          yield* eventually(shown, { is: (rows) => rows.length === 1 })
          yield* run("a", "break", { _tag: "Break" })
          yield* eventually(shown, { is: (rows) => rows.length === 0 })
        })
      )
    )
  )

  it.live("continue after a stop, and are rebuilt from the log when the bucket was emptied", () =>
    withViews(
      Effect.gen(function* () {
        const all = (coins: number) =>
          eventually(shown, { is: (rows) => rows.length === 1 && rows[0]?.summary["coins"] === coins })
        yield* open("a")
        yield* whileProjected(all(0))
        yield* fill("a", "1", 5)
        yield* whileProjected(all(5))
        const reader = yield* StreamReader
        yield* reader.purge("KV_views", "$KV.views.>")
        yield* fill("a", "2", 1)
        yield* whileProjected(all(6))
      })
    )
  )

  it.live("show an entity once after its move to another project by a process that died during it", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* open("big one")
        const reader = yield* StreamReader
        const keys = Effect.map(reader.countBySubject("KV_views", "$KV.views.>"), (counts) =>
          Object.keys(counts).filter((key) => key !== "$KV.views.cursor")
        )
        const stored = Effect.gen(function* () {
          return (yield* keys).length === 1 && Option.isSome(yield* reader.last("KV_views", "$KV.views.cursor"))
        })
        yield* whileProjected(eventually(stored))
        const [now = ""] = yield* keys
        const row = Option.getOrThrow(yield* reader.last("KV_views", now))
        const before = { ...(JSON.parse(new TextDecoder().decode(row.data)) as object), project: "attic", sequence: 0 }
        const key = "$KV.views.attic.jar.big"
        yield* (yield* Publisher).publishRaw(key, new TextEncoder().encode(JSON.stringify(before)))
        const isErased = Effect.map(reader.last("KV_views", key), (last) =>
          Option.exists(last, ({ data }) => data.length === 0)
        )
        yield* whileProjected(eventually(isErased))
        assert.isAbove(Option.getOrThrow(yield* reader.last("KV_views", now)).data.length, 0)
      }).pipe(Effect.provide(Actors.layer))
    )
  )

  it.live("keep showing an entity whose newest record is unreadable, and put that record into REJECTED", () =>
    withViews(
      whileProjected(
        Effect.gen(function* () {
          yield* open("a")
          yield* eventually(shown, { is: (rows) => rows.length === 1 })
          yield* (yield* Publisher).publishRaw(subjects.log("jar", "a"), new TextEncoder().encode("{}"))
          const reader = yield* StreamReader
          yield* eventually(reader.bounds("REJECTED"), { is: ({ messages }) => messages === 1 })
          yield* open("b")
          yield* eventually(shown, { is: (rows) => rows.length === 2 })
        })
      )
    )
  )
})

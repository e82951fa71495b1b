import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schedule, Stream } from "effect"
import {
  ack,
  consume,
  Consumers,
  keepTopology,
  Kv,
  type KvChange,
  Leases,
  lostAtKey,
  Nats,
  Publisher,
  readyConsumer,
  StreamReader,
  topology
} from "#bus"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { consumer, Note, note, trial } from "../trial.ts"

const kept = keepTopology({ topology: trial, replicas: 1 })

const withReports = {
  streams: topology.streams.filter(({ name }) => name === "REPORTS"),
  buckets: [],
  objectStores: []
}

const remove = (stream: string) =>
  Effect.flatMap(Nats, (nats) => nats.use("lose it", ({ manager }) => manager.streams.delete(stream)))
const infoOf = (stream: string) =>
  Effect.flatMap(Nats, (nats) => nats.use("look", ({ manager }) => manager.streams.info(stream)))
const isThere = (stream: string) => Effect.option(infoOf(stream)).pipe(Effect.map(({ _tag }) => _tag === "Some"))

/** As the roles follow: taken up again a moment after a break. */
const again = Schedule.spaced("100 millis")

// A reader that is not told waits for heartbeats, of which it misses two in 5 s.
const seenWithinMs = 20_000

describe("whoever keeps the topology", () => {
  it.live("makes again what is lost, and marks it; two who keep it do not get into each other's way", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          yield* Effect.forkScoped(kept)
          yield* Effect.forkScoped(kept)
          for (const name of ["WORK", "KV_notes", "OBJ_blobs"]) {
            assert.isUndefined((yield* infoOf(name)).config.metadata?.[lostAtKey])
            yield* remove(name)
            yield* eventually(isThere(name))
            const { config, created } = yield* infoOf(name)
            const apartMs = Math.abs(Date.parse(config.metadata?.[lostAtKey] ?? "") - Date.parse(created))
            assert.isAtMost(apartMs, 1_000, name)
          }
        }),
      trial
    )
  )

  it.live("makes again what can be made, whatever else cannot", () => {
    const [work, ...others] = trial.streams
    assert.isDefined(work)
    const clashing = { ...trial, streams: [{ ...work, name: "CLASHING" }, work, ...others] }
    return withBus(
      () =>
        Effect.gen(function* () {
          yield* Effect.forkScoped(keepTopology({ topology: clashing, replicas: 1 }))
          for (const name of ["SMALL", "KV_notes"]) {
            yield* remove(name)
            yield* eventually(isThere(name))
          }
          assert.isFalse(yield* isThere("CLASHING"))
        }),
      trial
    )
  })

  it.live("makes again a consumer that is lost, alone or with its stream", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const { stream, durable } = readyConsumer("REPORTS", "pipeline-api")
          const consumers = yield* Consumers
          const isMade = Effect.map(Effect.option(consumers.backlog(stream, durable)), Option.isSome)
          yield* Effect.forkScoped(keepTopology({ topology: withReports, replicas: 1 }))
          yield* Effect.forkScoped(keepTopology({ topology: withReports, replicas: 1 }))
          yield* consumers.remove(stream, durable)
          yield* eventually(isMade)
          yield* remove(stream)
          yield* eventually(isMade)
        }),
      withReports
    )
  )

  it.live("leaves nobody behind who follows by a sequence, a revision or a consumer", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const reader = yield* StreamReader
          const bucket = yield* (yield* Kv).open("notes", Note)
          yield* Effect.forkScoped(kept)
          const seen = { watched: new Set<string>(), followed: new Set<string>(), read: new Set<string>() }
          const consumed = new Set<string>()
          let [revision, sequence] = [0, 0]
          const take = (into: Set<string>) => (change: KvChange<{ readonly text: string }>) =>
            Effect.sync(() => {
              if (change.entry._tag === "Some") into.add(change.entry.value.value.text)
              revision = change.revision
            })
          yield* Effect.forkScoped(
            Effect.repeat(Effect.ignore(Stream.runForEach(bucket.changes, take(seen.watched))), again)
          )
          const runs = Stream.suspend(() => bucket.changesInBatches(revision + 1, { messagesMax: 8, withinMs: 1 }))
          yield* Effect.forkScoped(
            Effect.repeat(
              Effect.ignore(Stream.runForEach(runs, (run) => Effect.forEach(run, take(seen.followed)))),
              again
            )
          )
          const followed = Stream.suspend(() => reader.follow("SMALL", sequence + 1))
          const read = Stream.runForEach(followed, (message) =>
            Effect.sync(() => {
              sequence = message.sequence
              seen.read.add(message.subject)
            })
          )
          yield* Effect.forkScoped(Effect.repeat(Effect.ignore(read), again))
          yield* consume({
            consumer,
            codec: note,
            origin: "events",
            handler: ({ value }) =>
              Effect.as(
                Effect.sync(() => consumed.add(value.text)),
                ack
              )
          })
          const isSeen = (text: string) =>
            Effect.sync(
              () =>
                seen.watched.has(text) &&
                seen.followed.has(text) &&
                seen.read.has(`small.${text}`) &&
                consumed.has(text)
            )
          const write = Effect.fnUntraced(function* (text: string) {
            yield* bucket.create(`key-${text}`, { text })
            yield* publisher.publish(`work.${text}`, note, { text })
            yield* publisher.publish(`small.${text}`, note, { text })
            yield* eventually(isSeen(text), { withinMs: seenWithinMs })
          })

          for (const text of ["a", "b", "c", "d"]) yield* write(text)
          for (const name of ["KV_notes", "SMALL", "WORK"]) {
            yield* remove(name)
            yield* eventually(isThere(name))
          }
          // Fewer than before: sequences that began at 1 again would be taken for known.
          yield* write("e")
        }),
      trial
    )
  )

  it.live("lets a lease be taken again by its holder", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          yield* Effect.forkScoped(kept)
          let taken = 0
          const work = Effect.andThen(
            Effect.sync(() => (taken += 1)),
            Effect.never
          )
          yield* Effect.forkScoped((yield* Leases).whileHeld({ key: "one", holder: "me" }, work))
          yield* eventually(() => taken, { is: 1 })
          yield* remove("KV_leases")
          yield* eventually(() => taken, { is: 2 })
        }),
      trial
    )
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { type ConsumerFigures, Consumers, Leases, Nats, topology } from "#bus"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { busiest } from "../../../../services/console/http/fleet.ts"
import { abandon, codeOf, itemsOf, type Json, withConsole } from "../../../support/console.ts"

const named = (items: ReadonlyArray<Json>, name: string) => {
  const found = items.find((item) => item["name"] === name)
  assert.isDefined(found, name)
  return found ?? {}
}

const declaration = (durable: string) => ({
  stream: "ABANDONED",
  durable,
  filterSubjects: ["abandoned.*"],
  unackedMax: 8,
  ackWaitMs: 60_000
})

describe("the broker's streams on the console", () => {
  it.live("are listed with their sizes, limits and purposes, buckets and stores among them", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* abandon("shop")
        yield* abandon("shop")

        // The console looks at the streams by itself, and an answer counts for a second.
        const list = call("GET /streams")
        const messagesOf = (body: Json) => (named(itemsOf(body), "ABANDONED")["state"] as Json)["messages"]
        yield* eventually(list, { is: ({ body }) => messagesOf(body) === 2 })
        const { status, body } = yield* list

        assert.strictEqual(status, 200)
        const { streams, buckets, objectStores } = topology
        assert.deepStrictEqual(
          itemsOf(body).map(({ name, kind }) => [kind, name]),
          [
            ...streams.map(({ name }) => ["stream", name]),
            ...buckets.map(({ name }) => ["bucket", name]),
            ...objectStores.map(({ name }) => ["store", name])
          ]
        )
        assert.isEmpty(itemsOf(body).filter(({ trouble, state }) => trouble !== null || state === null))
        const { state, atLimit } = named(itemsOf(body), "ABANDONED")
        assert.include(state as Json, { messages: 2, bytesMax: null, ageSecondsMax: 30 * 86_400, replicas: 1 })
        assert.isAbove((state as Json)["bytes"] as number, 0)
        assert.isString((state as Json)["lastAt"])
        assert.strictEqual(atLimit, "evicts")
        const receipts = named(itemsOf(body), "RECEIPTS")
        assert.include(receipts["state"] as Json, { messages: 0, bytesMax: 8_192 * 1_024 ** 2, firstAt: null })
        assert.strictEqual(receipts["atLimit"], "refuses")
      })
    )
  )

  it.live("show how far each consumer is: what waits, what is not acknowledged, what came again", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* abandon("shop")
        yield* abandon("shop")
        yield* abandon("shop")
        const consumers = yield* Consumers
        yield* consumers.ensure(declaration("idle"))
        yield* consumers.ensure({ ...declaration("busy"), unackedMax: 1 })
        const { jetstream } = yield* Nats
        const busy = yield* Effect.promise(() => jetstream.consumers.get("ABANDONED", "busy"))
        const first = yield* Effect.promise(() => busy.next({ expires: 2_000 }))
        first?.nak()
        yield* Effect.promise(() => busy.next({ expires: 2_000 }))

        const list = call("GET /streams/ABANDONED/consumers")
        yield* eventually(list, { is: ({ body }) => named(itemsOf(body), "busy")["redelivered"] === 1 })
        const page = yield* list

        assert.deepInclude(named(itemsOf(page.body), "busy"), {
          isDurable: true,
          subjects: ["abandoned.*"],
          pending: 2,
          unacked: 1,
          redelivered: 1,
          waiting: 0,
          isPaused: false
        })
        assert.include(named(itemsOf(page.body), "idle"), { pending: 3, unacked: 0, lastDeliveredAt: null })
        yield* consumers.pause("ABANDONED", "idle", (yield* Clock.currentTimeMillis) + 60_000)
        yield* eventually(call("GET /streams"), {
          is: ({ body }) => {
            const shown = named(itemsOf(body), "ABANDONED")["consumers"] as ReadonlyArray<Json>
            return shown.length === 2 && named(shown, "idle")["isPaused"] === true
          }
        })
      })
    )
  )

  it.live("list the consumers of a stream by name, in pages", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const consumers = yield* Consumers
        const names = ["a", "b", "c", "d", "e"]
        yield* Effect.forEach(names, (name) => consumers.ensure(declaration(name)))
        const seen: Array<unknown> = []
        let cursor = ""
        for (;;) {
          const { body } = yield* call(`GET /streams/ABANDONED/consumers?limit=2${cursor}`)
          seen.push(...itemsOf(body).map(({ name }) => name))
          if (body["nextCursor"] === null) break
          cursor = `&cursor=${body["nextCursor"]}`
        }

        assert.deepStrictEqual(seen, names)
        const wrong = yield* call("GET /streams/ABANDONED/consumers?limit=0&cursor=xyz")
        assert.deepStrictEqual([wrong.status, codeOf(wrong.body)], [400, "validation_failed"])
        const bucket = yield* call("GET /streams/KV_tokens/consumers")
        assert.deepStrictEqual([bucket.status, codeOf(bucket.body)], [404, "not_found"])
      })
    )
  )

  it.live("name one that the broker does not have, and show the others", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { manager } = yield* Nats
        yield* Effect.promise(() => manager.streams.delete("SPEECH"))

        const { status, body } = yield* call("GET /streams")

        assert.strictEqual(status, 200)
        assert.include(named(itemsOf(body), "SPEECH"), { state: null, trouble: "the broker does not have it" })
        assert.isNull(named(itemsOf(body), "EVENTS")["trouble"])
      })
    )
  )

  it.live("are a refusal with 503 while the broker is away", () =>
    withConsole((call, server) =>
      Effect.gen(function* () {
        yield* call("GET /streams")
        yield* Effect.promise(() => server.kill9())

        yield* eventually(call("GET /streams"), { is: ({ status }) => status === 503 })
      })
    )
  )
})

describe("leases on the console", () => {
  it.live("name their holder and their end, and are gone when they are given back", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const leases = yield* Leases
        const { currentTimeMillis } = Clock
        const held = yield* Effect.forkChild(leases.whileHeld({ key: "sweep-quota", holder: "one" }, Effect.never))
        const swept = Effect.map(call("GET /leases"), ({ body }) =>
          itemsOf(body).find(({ key }) => key === "sweep-quota")
        )
        const lease = yield* eventually(swept, { is: (found) => found !== undefined })

        assert.include(lease ?? {}, { key: "sweep-quota", holder: "one" })
        const leftMs = Date.parse(String(lease?.["until"])) - (yield* currentTimeMillis)
        assert.isBelow(leftMs, 3_500)
        assert.isAbove(leftMs, 0)
        held.interruptUnsafe()
        yield* eventually(swept, { is: (found) => found === undefined })
      })
    )
  )
})

describe("the consumers that the list of streams shows", () => {
  const consumer = (name: string, pending: number, unacked = 0): ConsumerFigures => ({
    name,
    isDurable: true,
    filterSubjects: [],
    pending,
    unacked,
    redelivered: 0,
    waiting: 0,
    isPaused: false,
    lastDeliveredAtMs: null
  })

  it("are those with the most to do, by name where it is the same", () => {
    const all = [consumer("c", 1), consumer("a", 0, 3), consumer("d", 0), consumer("b", 0)]
    assert.deepStrictEqual(
      busiest(all).map(({ name }) => name),
      ["a", "c", "b", "d"]
    )
  })

  it("are twenty at most", () => {
    const all = Array.from({ length: 256 }, (_, place) => consumer(`c${place}`, place))
    assert.lengthOf(busiest(all), 20)
    assert.strictEqual(busiest(all)[0]?.name, "c255")
  })
})

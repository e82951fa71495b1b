import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher, StreamReader } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { HttpListener } from "#http"
import { because, type Call, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"

const publish = (name: string, changes: Json = {}) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...exampleEnvelope(name), ...changes }))
  return Effect.flatMap(Publisher, (publisher) => publisher.publishRaw(subjects.event(name), bytes))
}

const namesOf = (call: Call, query = "") =>
  Effect.map(call(`GET /events${query}`), ({ body }) => itemsOf(body).map(({ event }) => event))

/** What a stream says up to its first event; leaving it ends the call. */
const firstOf = (response: Response) =>
  Effect.promise(async () => {
    let heard = ""
    for await (const part of response.body ?? []) {
      heard += new TextDecoder().decode(part)
      if (heard.includes("data: ")) break
    }
    return heard
  })

const project = { id: "pear", displayName: "Pear", repositoryUrl: "https://git.example/pear.git" }

describe("events on the console", () => {
  it.live("are listed newest first by name, pattern, entity and project, page after page", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* publish("queue.paused")
        yield* publish("work_item.merged")
        yield* publish("work_item.done", { project })

        assert.deepStrictEqual(yield* namesOf(call), ["work_item.done", "work_item.merged", "queue.paused"])
        assert.deepStrictEqual(yield* namesOf(call, "?event=work_item.*"), ["work_item.done", "work_item.merged"])
        assert.deepStrictEqual(yield* namesOf(call, "?event=queue.paused"), ["queue.paused"])
        assert.deepStrictEqual(yield* namesOf(call, "?projectId=pear"), ["work_item.done"])
        const entity = String(itemsOf((yield* call("GET /events?limit=1")).body)[0]?.["entity"])
        assert.match(entity, /^workItem:/u)
        assert.deepStrictEqual(yield* namesOf(call, `?entity=${entity}`), ["work_item.done", "work_item.merged"])
        const first = yield* call("GET /events?limit=2")
        assert.deepStrictEqual(yield* namesOf(call, `?limit=2&cursor=${String(first.body["nextCursor"])}`), [
          "queue.paused"
        ])
        assert.deepStrictEqual(yield* namesOf(call, "?until=2020-01-01T00:00:00Z"), [])
        assert.deepStrictEqual(yield* namesOf(call, "?since=2999-01-01T00:00:00Z"), [])
      })
    )
  )

  it.live("are shown whole to a token that may read payloads", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* publish("queue.paused")
        const whole = yield* call("GET /events/1")
        assert.strictEqual(whole.body["envelope"], JSON.stringify(exampleEnvelope("queue.paused")))
        const narrow = yield* call("GET /events/1", { token: yield* tokenOf("viewer", "console:read") })
        assert.deepStrictEqual([narrow.status, narrow.body["envelope"]], [200, null])
      })
    )
  )

  it.live("come as they are published, those alone that are asked for", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const token = yield* tokenOf("viewer")
        yield* publish("queue.paused")
        const headers = { authorization: `Bearer ${token}` }
        const response = yield* Effect.promise(() => fetch(`${url}/events/live?event=queue.*`, { headers }))
        assert.strictEqual(response.status, 200)
        yield* publish("work_item.merged")
        yield* publish("queue.resumed")

        const text = yield* firstOf(response)
        assert.match(text, /^id: 3$/mu)
        assert.include(text, '"event":"queue.resumed"')
        assert.notInclude(text, "queue.paused")
      })
    )
  )

  it.live("that come between a page, be it empty, and its stream are the first of the stream", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const headers = { authorization: `Bearer ${yield* tokenOf("viewer")}` }
        assert.strictEqual((yield* call("GET /events")).body["through"], 0)
        yield* publish("queue.paused")
        const { body } = yield* call("GET /events?event=queue.resumed")
        assert.deepStrictEqual([itemsOf(body), body["through"]], [[], 1])
        yield* publish("queue.resumed")

        for (const [query, id] of [
          ["after=0", 1],
          ["event=queue.resumed&after=1", 2]
        ] as const) {
          const response = yield* Effect.promise(() => fetch(`${url}/events/live?${query}`, { headers }))
          assert.match(yield* firstOf(response), new RegExp(`^id: ${id}$`, "mu"), query)
        }
      })
    )
  )

  it.live("have a catalogue with a whole schema and an example of each", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { body } = yield* call("GET /events/catalogue")
        const names = itemsOf(body).map(({ event }) => String(event))
        assert.include(names, "work_item.merged")
        const merged = yield* call("GET /events/catalogue/work_item.merged")
        const { schema, example } = merged.body as { readonly schema: Json; readonly example: Json }
        assert.deepStrictEqual(example, exampleEnvelope("work_item.merged"))
        const text = JSON.stringify(schema)
        for (const [, name = ""] of text.matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/gu)) {
          assert.property(schema["$defs"], name)
        }
        assert.notMatch(text, /"\$ref":"[^#]/u)
        assert.strictEqual((yield* call("GET /events/catalogue/no.such")).status, 404)
      })
    )
  )

  it.live("are published as examples with fields set, once they are valid, and the audit log says so", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const order = { ...because, event: "work_item.merged", set: { "workItem.title": "Mend it" } }
        const dry = yield* call("POST /events", { body: { ...order, dryRun: true } })
        assert.strictEqual(dry.body["sequence"], null)
        assert.nestedPropertyVal(dry.body, "envelope.workItem.title", "Mend it")
        const bad = yield* call("POST /events", { body: { ...order, set: { workItem: 7 } } })
        assert.strictEqual(bad.status, 400)
        assert.strictEqual((yield* call("POST /events", { body: { ...because, event: "no.such" } })).status, 400)
        assert.strictEqual((yield* (yield* StreamReader).bounds("EVENTS")).messages, 0)
        assert.deepStrictEqual(itemsOf((yield* call("GET /audit")).body), [])

        const sent = yield* call("POST /events", { body: order })
        assert.strictEqual(sent.body["sequence"], 1)
        assert.deepStrictEqual(yield* namesOf(call), ["work_item.merged"])
        assert.include(itemsOf((yield* call("GET /audit")).body)[0], {
          action: "event-publish",
          target: "work_item.merged"
        })
      })
    )
  )
})

/** Endpoints changed through the console while a process dies: a caller asks again until it has an answer. */
import { setTimeout as pause } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Tokens } from "#http"
import { Configuration } from "#configuration"
import { busOn } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { signBody } from "#webhooks"
import { because, type Json, tokenOf } from "../../../support/console.ts"
import type { TestReceiver } from "../../../support/receiver.ts"
import { startRoleProcess } from "../../../support/role-process.ts"
import { requestsTo, sequencesTo, setUp, steadily } from "../../../support/webhooks.ts"

const utf8 = new TextEncoder()
const eventsPerSecond = 300
const [oldSecret, newSecret] = ["old-secret-of-sixteen", "new-secret-of-sixteen"]

const isAnswered = { is: ({ status }: { readonly status: number }) => status < 500, withinMs: 60_000 }

/** Sends a request until somebody answers it; 5xx is no answer. */
const asker = (token: string, url: () => string) => (verb: string, body: object) =>
  eventually(async () => {
    const [method = "", path = ""] = verb.split(" ")
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const request = fetch(`${url()}${path}`, { method, headers, body: JSON.stringify({ ...because, ...body }) })
    const answer = await request
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 503, text: "" }))
    const isJson = answer.status < 500 && answer.text !== ""
    return { status: answer.status, body: isJson ? (JSON.parse(answer.text) as Json) : {} }
  }, isAnswered)

const victims = ["console", "webhook-dispatcher", "nats-server"] as const

/** Two dispatchers and a console; `kill` ends one of them the hard way, and starts it again. */
const processesOn = Effect.fnUntraced(function* (server: TestNatsServer, victim: (typeof victims)[number]) {
  let shown = yield* startRoleProcess(server, "console")
  let dispatcher = yield* startRoleProcess(server, "webhook-dispatcher")
  yield* startRoleProcess(server, "webhook-dispatcher")
  const kill = Effect.gen(function* () {
    if (victim === "nats-server") {
      yield* Effect.promise(() => server.kill9())
      yield* Effect.promise(() => server.start())
    } else if (victim === "console") {
      yield* shown.kill("SIGKILL")
      shown = yield* startRoleProcess(server, "console")
    } else {
      yield* dispatcher.kill("SIGKILL")
      dispatcher = yield* startRoleProcess(server, "webhook-dispatcher")
    }
  })
  return { url: () => shown.url, kill }
})

/** So many events may wait for the endpoint, two seconds of them: a machine that delivers less is given less. */
const waitingMax = 600

/** Whether the endpoint lags that far behind; before its first event it does not. */
const isBehind = (receiver: TestReceiver) => {
  let [got, looked] = [0, 0]
  return (newest: number) => {
    for (const { headers } of receiver.requests.slice(looked))
      got = Math.max(got, Number(headers["x-service-sequence"]))
    looked = receiver.requests.length
    return got > 0 && newest - got > waitingMax
  }
}

const verifies = (secret: string) => (request: { readonly headers: Json; readonly body: string }) =>
  request.headers["x-service-signature"] === signBody(secret, utf8.encode(request.body))

describe("endpoints that are changed through the console under hundreds of events a second", () => {
  for (const victim of victims) {
    it.live(
      `get each event after the answer of their making, verify while they rotate, and get none after their removal, with kill -9 of ${victim} in the middle of each`,
      () =>
        Effect.gen(function* () {
          const { server, receiver } = yield* setUp
          const bus = Layer.provideMerge(Tokens.layer, Layer.merge(busOn(server), Configuration.layerOf({})))
          yield* Effect.gen(function* () {
            const { url, kill } = yield* processesOn(server, victim)
            const ask = asker(yield* tokenOf("owner"), url)
            /** Asks, and kills while the request is on its way. */
            const whileKilled = (verb: string, body: object, afterMs: number) =>
              Effect.gen(function* () {
                const asked = yield* Effect.forkScoped(ask(verb, body))
                yield* Effect.promise(() => pause(afterMs))
                yield* kill
                return yield* Fiber.join(asked)
              })

            const steady = yield* steadily(eventsPerSecond, isBehind(receiver))
            yield* steady.after(100)
            const settings = { Name: "made", Url: receiver.url("/made") }
            const made = yield* whileKilled("POST /endpoints", { settings, secret: oldSecret }, 3)
            assert.strictEqual(made.status, 201, JSON.stringify(made.body))
            yield* steady.after(200)

            const rotation = { secret: newSecret, overlapSeconds: 600 }
            const rotated = yield* whileKilled("POST /endpoints/made/rotate", rotation, 5)
            assert.strictEqual(rotated.status, 200, JSON.stringify(rotated.body))
            yield* steady.after(200)
            const last = yield* steady.stop
            const startsAfter = Number(made.body["startsAfter"])
            const wanted = Array.from({ length: last - startsAfter }, (_, index) => startsAfter + 1 + index)
            const missing = Effect.sync(() => {
              const got = new Set(sequencesTo(receiver, "/made"))
              return wanted.filter((sequence) => !got.has(sequence))
            })
            yield* eventually(missing, { is: ({ length }) => length === 0 })
            assert.strictEqual(Math.min(...sequencesTo(receiver, "/made")), startsAfter + 1)
            const byNew = requestsTo(receiver, "/made").filter((request) => {
              const isNew = verifies(newSecret)(request)
              assert.isTrue(isNew || verifies(oldSecret)(request))
              return isNew
            })
            assert.isAbove(byNew.length, 100)

            const more = yield* steadily(eventsPerSecond)
            yield* more.after(100)
            // 404: the answer of the removal itself was lost.
            const removed = yield* whileKilled("POST /endpoints/made/remove", {}, 4)
            assert.include([204, 404], removed.status, JSON.stringify(removed.body))
            const sent = requestsTo(receiver, "/made").length
            yield* more.after(200)
            yield* more.stop
            assert.strictEqual(requestsTo(receiver, "/made").length, sent)
          }).pipe(Effect.provide(bus))
        })
    )
  }
})

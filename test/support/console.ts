/** A whole console of the test's own, on its own bus, a caller of it, and what it shows. */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Layer } from "effect"
import { Publisher, Rejections } from "#bus"
import { type Delivery, endpointIdOf } from "#webhooks/contract"
import { exampleEnvelope, isoTime, subjects } from "#base"
import { ConfiguredHttp } from "#egress"
import { HttpListener, Tokens } from "#http"
import { Addresses, Drain, MetricsSources, OpsServer } from "#runtime"
import { Configuration } from "#configuration"
import { abandonedHeaders, answerAskedDeliveries } from "#webhooks"
import { consoleWith } from "../../services/console/role.ts"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

export type Json = Readonly<Record<string, unknown>>

/** A dispatcher's part in what operators send. */
const answering = answerAskedDeliveries({ hasEndpoint: () => Effect.succeed(true), findType: () => Effect.undefined })
type DispatcherPart = Effect.Effect<void, never, Effect.Services<typeof answering>>
export const consoleOn = (server: TestNatsServer, changes: Json = {}, dispatcher: DispatcherPart = answering) =>
  consoleWith.pipe(
    Layer.provideMerge(Layer.effectDiscard(dispatcher)),
    Layer.provideMerge(Tokens.layer),
    Layer.provideMerge(OpsServer.layer({ host: "127.0.0.1", port: 0 })),
    Layer.provideMerge(MetricsSources.layer),
    Layer.provideMerge(Drain.layer),
    Layer.provideMerge(ConfiguredHttp.layer),
    Layer.provideMerge(busOn(server)),
    Layer.provideMerge(Addresses.layer),
    Layer.provideMerge(Configuration.layerOf({ ...changes, Console: { ...consoleOf(changes), Port: 0 } })),
    Layer.fresh
  )

const consoleOf = (changes: Json) => changes["Console"] as Json | undefined

export type Role = "viewer" | "member" | "admin" | "owner"

/** A person's token: all that the role may, or these scopes of it. */
export const tokenOf = (role: Role, ...scopes: ReadonlyArray<string>) =>
  Effect.flatMap(Tokens, (tokens) =>
    Effect.map(
      tokens.make({ workspace: "default", kind: "member", role, scopes: scopes.length === 0 ? ["*"] : scopes }),
      ({ token }) => token
    )
  )

interface Asked {
  readonly body?: unknown
  /** Null for none; an owner's without one. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls the console around it, as its owner unless told otherwise. */
export const callerOf = Effect.gen(function* () {
  const { url } = yield* HttpListener
  const own = yield* tokenOf("owner")
  return Effect.fnUntraced(function* (verb: string, { body, token = own, headers = {} }: Asked = {}) {
    const [method = "GET", path = "/"] = verb.split(" ")
    const response = yield* Effect.promise(() =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          ...headers,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    )
    // A stream without end: only its head is looked at here.
    if (response.headers.get("content-type") === "text/event-stream") {
      yield* Effect.promise(async () => response.body?.cancel())
      return { status: response.status, body: {} }
    }
    const text = yield* Effect.promise(() => response.text())
    if (response.headers.get("content-type")?.startsWith("text/csv") === true) {
      return { status: response.status, body: { text } }
    }
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Json }
  })
})
export type Call = Effect.Success<typeof callerOf>

export const withConsole = <A, E, R>(
  test: (call: Call, server: TestNatsServer) => Effect.Effect<A, E, R>,
  changes: Json = {}
) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* Effect.flatMap(callerOf, (call) => test(call, server)).pipe(
      Effect.provide(consoleOn(server, changes))
    )
  }).pipe(Effect.scoped)

/** The configuration of endpoints of these names. */
export const configured = (...names: ReadonlyArray<string>): Json => ({
  Webhooks: names.map((Name) => ({ Name, Url: `https://${Name}.example/hooks` }))
})

export const itemsOf = (body: Json) => body["items"] as ReadonlyArray<Json>
export const codeOf = (body: Json) => (body["error"] as Json | undefined)?.["code"]
export const because = { reason: "a test" }

const bytes = (text: string) => new TextEncoder().encode(text)

export const envelopeText = JSON.stringify(exampleEnvelope("queue.paused"))

/** Puts a delivery into ABANDONED, as the dispatcher does; answers with its place. */
export const abandon = (endpoint: string, body = envelopeText) =>
  Effect.gen(function* () {
    const endpointId = endpointIdOf(endpoint)
    const nowMs = yield* Clock.currentTimeMillis
    const delivery: Delivery = {
      deliveryId: randomUUID(),
      endpointId,
      event: "queue.paused",
      schemaVersion: "1.2.0",
      sequence: 7,
      attempt: 3,
      storedAt: nowMs,
      dueAt: nowMs
    }
    const headers = abandonedHeaders(delivery, {
      endpoint,
      reason: "no attempt is left",
      attempts: 3,
      lastStatus: 500,
      lastError: null,
      abandonedAt: isoTime(nowMs)
    })
    const { sequence } = yield* (yield* Publisher).publishRaw(subjects.abandoned(endpointId), bytes(body), { headers })
    return { sequence, delivery }
  })

/** Puts a message into REJECTED, as the fan-out does. */
export const reject = (payload: string, { origin = "events", subject = "events.queue.paused" } = {}) =>
  Effect.flatMap(Rejections, (rejections) =>
    rejections.reject({
      origin,
      subject,
      sequence: null,
      faults: [{ path: "/details", message: "is missing" }],
      payload: bytes(payload)
    })
  )

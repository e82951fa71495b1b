import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import { natsServer } from "../../dev/fixtures/bus.ts"
import { ask, chat, eventsOf } from "../support/gateway.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { endRoles, startRole } from "../support/role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

const key = "a-key-that-must-never-be-seen"
const priced = { FlatMicroUsd: 1_000 }

/** The role in a process of its own, as a container runs it. */
const start = (bus: string, models: ReadonlyArray<object>, providers: ReadonlyArray<object>, environment = {}) =>
  Effect.gen(function* () {
    const port = yield* Effect.promise(freePort)
    const ModelGateway = { Port: port, Providers: providers, Models: models }
    const configuration = { Bus: { Url: bus }, ModelGateway }
    const role = yield* Effect.acquireRelease(
      Effect.promise(() => startRole("model-gateway", { configuration, environment })),
      () => Effect.promise(() => endRoles())
    )
    return { role, url: `http://127.0.0.1:${port}` }
  })

describe("the gateway as a process", () => {
  it.live("answers for free models, sells nothing without a payment gate, shows no key, and exits cleanly", () =>
    Effect.gen(function* () {
      const upstream = yield* startLocalUpstream({ key })
      const server = yield* natsServer
      const via = [{ Provider: "local", Model: "echo-1" }]
      const { role, url } = yield* start(
        server.url,
        [
          { Id: "demo/free", Free: true, Upstreams: via },
          { Id: "demo/echo", ...priced, Upstreams: via }
        ],
        [{ Name: "local", BaseUrl: `${upstream.url}/v1`, KeyEnvVar: "LOCAL_KEY" }],
        { LOCAL_KEY: key }
      )
      yield* Effect.promise(() => until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs }))
      const path = "/api/v1/chat/completions"
      const answer = yield* ask({ url }, path, chat("one two", { model: "demo/free", stream: true }))
      assert.strictEqual(eventsOf(answer.text).data.at(-1), "[DONE]")
      const closed = yield* ask({ url }, path, chat("one two"))
      assert.deepStrictEqual([closed.status, closed.body["code"]], [503, "PAYMENT_VERIFICATION_UNAVAILABLE"])
      const failed = yield* ask({ url }, path, chat("!overloaded", { model: "demo/free" }))
      assert.strictEqual(failed.status, 429)
      const metrics = yield* Effect.promise(() => role.metrics())
      assert.match(metrics, /gateway_requests_total\{[^}]*code="FREE_MODEL_FAILED"[^}]*\} 1/u)

      role.signal("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => role.ended), 0)
      assert.notInclude(`${role.out()}${role.error()}${metrics}${failed.text}`, key)
    }).pipe(Effect.scoped)
  )

  it.live("names every fault of its configuration and does not start", () =>
    Effect.gen(function* () {
      const { role } = yield* start(
        "nats://127.0.0.1:9",
        [
          { Id: "demo/a", Upstreams: [{ Provider: "nobody", Model: "x" }], ...priced },
          { Id: "demo/b", Upstreams: [{ Provider: "local", Model: "x" }] }
        ],
        [{ Name: "local", BaseUrl: "http://127.0.0.1:9/v1", KeyEnvVar: "NO_SUCH_KEY" }]
      )
      assert.notStrictEqual(yield* Effect.promise(() => role.ended), 0)
      for (const fault of ["NO_SUCH_KEY is not set", 'no provider \\"nobody\\"', "a model has a price, or is Free"]) {
        assert.include(role.error(), fault)
      }
    }).pipe(Effect.scoped)
  )
})

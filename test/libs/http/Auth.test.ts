import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable } from "#bus"
import { Auth, authenticated, Caller, HttpCall, type TokenRecord, Tokens } from "#http"
import { mayUse, roleScopes } from "../../../libs/http/scopes.ts"

const record = (more: Partial<TokenRecord> = {}): TokenRecord => ({
  id: "t1",
  workspace: "w1",
  kind: "member",
  role: "member",
  scopes: ["audio:all"],
  createdAt: "2026-01-01T00:00:00.000Z" as TokenRecord["createdAt"],
  revokedAt: null,
  ...more
})

/** Tokens by their text, and how often they were looked for. */
const store = (known: Map<string, TokenRecord>, state = { looks: 0, isDown: false }) => ({
  state,
  layer: Auth.layer({ failuresMax: 3 }).pipe(
    Layer.provide(
      Layer.mock(Tokens, {
        // The store is across the network: others come in while it is asked.
        find: (token) =>
          Effect.flatMap(Effect.yieldNow, () => {
            state.looks += 1
            return state.isDown
              ? Effect.fail(new BusUnavailable({ operation: "get", detail: "no broker" }))
              : Effect.succeed(Option.fromNullishOr(known.get(token)))
          })
      })
    )
  )
})

const from = (remoteAddress: string, authorization?: string) =>
  Effect.provideService(HttpCall, {
    requestId: "r",
    method: "GET",
    route: "/",
    params: {},
    query: {},
    remoteAddress,
    header: (name) => Option.fromNullishOr(name === "authorization" ? authorization : undefined)
  })

const whoWith = (authorization?: string, address = "10.0.0.1", ...scopes: ReadonlyArray<string>) =>
  Effect.map(Caller, ({ workspace }) => workspace).pipe(
    authenticated(...scopes),
    from(address, authorization),
    Effect.result,
    Effect.map((result) => (Result.isSuccess(result) ? result.success : result.failure.status))
  )

describe("callers", () => {
  it.effect("are known by a bearer token, and asked for one with a challenge", () => {
    const { layer } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      assert.strictEqual(yield* whoWith("bearer  good"), "w1")
      for (const wrong of [undefined, "good", "Basic good", "Bearer ", "Bearer a b"]) {
        assert.strictEqual(yield* whoWith(wrong), 401, String(wrong))
      }
      const refused = yield* Effect.flip((yield* Auth).identify.pipe(from("10.0.0.9")))
      assert.strictEqual(refused.headers?.["www-authenticate"], "Bearer")
    }).pipe(Effect.provide(layer))
  })

  it.effect("need one of the scopes", () => {
    const { layer } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer good", "10.0.0.1", "voices:read", "audio:speech"), "w1")
      assert.strictEqual(yield* whoWith("Bearer good", "10.0.0.1", "voices:read"), 403)
    }).pipe(Effect.provide(layer))
  })

  it.effect("are looked up once in a while, and a revocation is felt within five seconds", () => {
    const known = new Map([["good", record()]])
    const { layer, state } = store(known)
    return Effect.gen(function* () {
      for (let n = 0; n < 10; n++) yield* whoWith("Bearer good")
      assert.strictEqual(state.looks, 1)
      known.delete("good")
      yield* TestClock.adjust("4500 millis")
      assert.strictEqual(yield* whoWith("Bearer good"), 401)
    }).pipe(Effect.provide(layer))
  })

  it.effect("from an address that brings wrong tokens are refused, but for tokens that were right before", () => {
    const known = new Map([
      ["good", record()],
      ["new", record()]
    ])
    const { layer, state } = store(known)
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      for (const wrong of ["x1", "x2", "x3"]) assert.strictEqual(yield* whoWith(`Bearer ${wrong}`), 401)
      const looks = state.looks
      assert.strictEqual(yield* whoWith("Bearer x4"), 429)
      assert.strictEqual(yield* whoWith("Bearer new"), 429)
      assert.strictEqual(state.looks, looks)
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      assert.strictEqual(yield* whoWith("Bearer new", "10.0.0.2"), "w1")
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* whoWith("Bearer x4"), 401)
    }).pipe(Effect.provide(layer))
  })

  it.effect("in a burst with one right token are all let in, although it was never seen before", () => {
    const { layer, state } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      const burst = Array.from({ length: 50 }, () => whoWith("Bearer good"))
      const answers = yield* Effect.all(burst, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers,
        answers.map(() => "w1")
      )
      assert.strictEqual(state.looks, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("wait while the store is away, and it costs them nothing", () => {
    const { layer, state } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      state.isDown = true
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* whoWith("Bearer good"), 503)
      state.isDown = false
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
    }).pipe(Effect.provide(layer))
  })
})

describe("scopes", () => {
  const may = (grants: ReadonlyArray<string>, scope: string, more: Partial<TokenRecord> = {}) =>
    mayUse(record({ scopes: grants, ...more }), roleScopes, scope)

  it("are granted one by one, by family, by verb, or all", () => {
    assert.isTrue(may(["audio:speech"], "audio:speech"))
    assert.isFalse(may(["audio:speech"], "audio:stream"))
    for (const grant of ["audio:all", "audio:*", "*"]) assert.isTrue(may([grant], "audio:stream"), grant)
    assert.isFalse(may(["audio:all"], "voices:read"))
    assert.isFalse(may(["audio"], "audio:speech"))
    assert.isTrue(may(["*:read"], "voices:read"))
    assert.isFalse(may([], "audio:speech"))
  })

  it("of a member end where its role ends, of a service account they do not", () => {
    assert.isFalse(may(["*"], "voices:create", { role: "viewer" }))
    assert.isTrue(may(["*"], "voices:read", { role: "viewer" }))
    assert.isTrue(may(["*"], "voices:create", { role: "viewer", kind: "service" }))
  })
})

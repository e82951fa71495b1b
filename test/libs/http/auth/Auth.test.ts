import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable } from "#bus"
import { type ApiScope, apiScopes } from "#base"
import {
  Auth,
  authenticated,
  Caller,
  grantsBeyond,
  HttpCall,
  leastRole,
  type TokenRecord,
  Tokens,
  TokenUses,
  unknownGrants
} from "#http"
import { Configuration } from "#configuration"
import { mayUse, roleScopes } from "../../../../libs/http/auth/Tokens.ts"

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

interface StoreState {
  looks: number
  isDown: boolean
  hangs: boolean
  readonly used: Array<string>
}

/** Tokens by their text, and how often they were looked for. */
const store = (known: Map<string, TokenRecord>, options: { readonly countsUnseenMs?: number } = {}) => {
  const state: StoreState = { looks: 0, isDown: false, hangs: false, used: [] }
  return { state, layer: storeLayer(known, state, options) }
}

const storeLayer = (
  known: Map<string, TokenRecord>,
  state: StoreState,
  options: { readonly countsUnseenMs?: number }
) =>
  Auth.layer({ failuresMax: 3, ...options }).pipe(
    Layer.provide(
      Layer.mock(Tokens, {
        // The store is across the network: other calls arrive during a look-up.
        find: (token) =>
          Effect.flatMap(Effect.yieldNow, () => {
            state.looks += 1
            if (state.hangs) return Effect.never
            return state.isDown
              ? Effect.fail(new BusUnavailable({ operation: "get", detail: "no broker" }))
              : Effect.succeed(Option.fromNullishOr(known.get(token)))
          })
      })
    ),
    Layer.provide(Layer.mock(TokenUses, { note: (id) => Effect.sync(() => void state.used.push(id)) })),
    Layer.provide(Configuration.layerOf({ Fleet: { Workspace: "ours" } }).pipe(Layer.orDie))
  )

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

const whoWith = (authorization?: string, address = "10.0.0.1", ...scopes: ReadonlyArray<ApiScope>) =>
  Effect.map(Caller, ({ workspace }) => workspace).pipe(
    authenticated({ scopes }),
    from(address, authorization),
    Effect.result,
    Effect.map((result) => (Result.isSuccess(result) ? result.success : result.failure.status))
  )

describe("callers", () => {
  it.effect("are known by a bearer token, and get a challenge without one", () => {
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

  it.effect("need the permission as well, and hear of it before the scope", () => {
    const known = new Map([
      ["member", record()],
      ["viewer", record({ role: "viewer" })],
      ["service", record({ kind: "service", role: "viewer" })]
    ])
    const { layer } = store(known)
    const manage = (token: string, scope: ApiScope) =>
      Effect.void.pipe(
        authenticated({ scopes: [scope], permission: "content.manage" }),
        from("10.0.0.1", `Bearer ${token}`),
        Effect.match({ onSuccess: () => "done", onFailure: ({ code }) => code })
      )
    return Effect.gen(function* () {
      assert.strictEqual(yield* manage("member", "audio:speech"), "done")
      assert.strictEqual(yield* manage("service", "audio:speech"), "done")
      assert.strictEqual(yield* manage("member", "voices:delete"), "insufficient_scope")
      assert.strictEqual(yield* manage("viewer", "voices:delete"), "forbidden")
    }).pipe(Effect.provide(layer))
  })

  it.effect("are looked up at intervals, and a revocation takes effect within five seconds", () => {
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

  it.effect("from an address with wrong tokens are refused, except tokens that were right before", () => {
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

  it.effect("with a token that was revoked are refused like those with any wrong one", () => {
    const known = new Map([["good", record()]])
    const { layer } = store(known)
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      known.delete("good")
      const answers: Array<string | number> = []
      for (let tries = 0; tries < 5; tries += 1) {
        yield* TestClock.adjust("5 seconds")
        answers.push(yield* whoWith("Bearer good"))
      }
      assert.deepStrictEqual(answers, [401, 401, 401, 401, 429])
    }).pipe(Effect.provide(layer))
  })

  it.effect("in a burst with one new right token are all admitted", () => {
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

  it.effect("with an expired token are refused from that moment on, with the time of expiry", () => {
    const expiring = record({ id: "e1", expiresAt: "1970-01-01T00:00:02.000Z" as TokenRecord["createdAt"] })
    const { layer, state } = store(new Map([["ending", expiring]]))
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer ending"), "w1")
      yield* TestClock.adjust("2 seconds")
      const refused = yield* Effect.flip((yield* Auth).identify.pipe(from("10.0.0.1", "Bearer ending")))
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.message, "the token expired at 1970-01-01T00:00:02.000Z")
      assert.include(refused.headers?.["www-authenticate"], 'error="invalid_token"')
      // It is no guess: a repeated call gets the same answer each time.
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* whoWith("Bearer ending"), 401)
      assert.deepStrictEqual(state.used, ["e1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("are recorded as users of their token only when they are admitted", () => {
    const { layer, state } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      yield* whoWith("Bearer good")
      yield* whoWith("Bearer bad")
      assert.deepStrictEqual(state.used, ["t1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("wait while the store is unreachable, without a penalty", () => {
    const { layer, state } = store(new Map([["good", record()]]))
    return Effect.gen(function* () {
      state.isDown = true
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* whoWith("Bearer good"), 503)
      state.isDown = false
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
    }).pipe(Effect.provide(layer))
  })
})

describe("callers of an API that shows only what it holds, while the store is unreachable", () => {
  const countsUnseenMs = 600_000

  it.effect("count for a while if their token was found before, and nobody else does", () => {
    const { layer, state } = store(
      new Map([
        ["good", record()],
        ["new", record()]
      ]),
      { countsUnseenMs }
    )
    return Effect.gen(function* () {
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      state.isDown = true
      for (const seconds of [5, 60, 534]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        assert.strictEqual(yield* whoWith("Bearer good"), "w1")
        assert.strictEqual(yield* whoWith("Bearer new"), 503)
      }
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* whoWith("Bearer good"), 503)
    }).pipe(Effect.provide(layer))
  })

  it.effect("wait for one second at most, and then not again for four", () => {
    const { layer, state } = store(new Map([["good", record()]]), { countsUnseenMs })
    return Effect.gen(function* () {
      yield* whoWith("Bearer good")
      yield* TestClock.adjust("5 seconds")
      state.hangs = true
      const first = yield* Effect.forkChild(whoWith("Bearer good"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(first), "w1")
      const looks = state.looks
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      assert.strictEqual(state.looks, looks)
    }).pipe(Effect.provide(layer))
  })

  it.effect("are refused within five seconds of its return if their token was revoked meanwhile", () => {
    const known = new Map([["good", record()]])
    const { layer, state } = store(known, { countsUnseenMs })
    return Effect.gen(function* () {
      yield* whoWith("Bearer good")
      yield* TestClock.adjust("5 seconds")
      state.isDown = true
      assert.strictEqual(yield* whoWith("Bearer good"), "w1")
      known.delete("good")
      state.isDown = false
      yield* TestClock.adjust("4500 millis")
      assert.strictEqual(yield* whoWith("Bearer good"), 401)
      state.isDown = true
      yield* TestClock.adjust("1500 millis")
      assert.strictEqual(yield* whoWith("Bearer good"), 503)
    }).pipe(Effect.provide(layer))
  })
})

describe("a workspace", () => {
  /** Which scopes reach what is of no workspace. */
  const isOfFleet: Readonly<Record<ApiScope, boolean>> = {
    "audio:speech": false,
    "audio:stream": false,
    "console:operate": true,
    "console:read": true,
    "console:write": true,
    "events:publish": true,
    "payloads:read": true,
    "pipeline:operate": true,
    "pipeline:read": true,
    "pipeline:write": true,
    "tokens:manage": false,
    "voices:create": false,
    "voices:delete": false,
    "voices:read": false
  }
  const owner = { role: "owner", scopes: ["*"] } as const
  const kinds: ReadonlyArray<readonly [string, Partial<TokenRecord>]> = [
    ["owner", owner],
    ["service", { kind: "service", scopes: apiScopes }]
  ]
  const heard = (token: string, ...scopes: ReadonlyArray<ApiScope>) =>
    Effect.void.pipe(
      authenticated({ scopes }),
      from("10.0.0.1", `Bearer ${token}`),
      Effect.match({ onSuccess: () => "done", onFailure: ({ status, code }) => `${status} ${code}` })
    )

  it.effect.each(kinds)(
    "other than the fleet's keeps the token of an %s from what reaches the whole fleet",
    ([, more]) => {
      const { layer } = store(
        new Map([
          ["own", record({ workspace: "ours", ...more })],
          ["other", record({ workspace: "acme", ...more })]
        ])
      )
      return Effect.gen(function* () {
        for (const scope of apiScopes) {
          assert.strictEqual(yield* heard("own", scope), "done", scope)
          assert.strictEqual(yield* heard("other", scope), isOfFleet[scope] ? "403 other_workspace" : "done", scope)
        }
        // One that stays within the workspace is enough where either will do.
        assert.strictEqual(yield* heard("other", "console:read", "voices:read"), "done")
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("is told apart from a scope that the token lacks, and bounds what a handler may show", () => {
    const { layer } = store(
      new Map([
        ["all", record({ workspace: "acme", ...owner })],
        ["few", record({ workspace: "acme" })]
      ])
    )
    return Effect.gen(function* () {
      const ask = authenticated({ scopes: ["console:read"] })(Effect.void).pipe(from("10.0.0.1", "Bearer all"))
      const refused = yield* Effect.flip(ask)
      assert.strictEqual(
        refused.message,
        "console:read reaches the whole fleet, which a token of the workspace acme may not"
      )
      assert.deepStrictEqual(refused.details, { scopes: ["console:read"], workspace: "acme" })
      assert.strictEqual(yield* heard("few", "console:read"), "403 insufficient_scope")
      const { may } = yield* (yield* Auth).identify.pipe(from("10.0.0.1", "Bearer all"))
      assert.deepStrictEqual(
        apiScopes.filter((scope) => may(scope)),
        apiScopes.filter((scope) => !isOfFleet[scope])
      )
    }).pipe(Effect.provide(layer))
  })
})

describe("scopes", () => {
  const may = (grants: ReadonlyArray<string>, scope: ApiScope, more: Partial<TokenRecord> = {}) =>
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

  it("of a member end at its role's limits, those of a service account do not", () => {
    assert.isFalse(may(["*"], "voices:create", { role: "viewer" }))
    assert.isTrue(may(["*"], "voices:read", { role: "viewer" }))
    assert.isTrue(may(["*"], "voices:create", { role: "viewer", kind: "service" }))
  })

  it.each([
    [["*", "*:read", "audio:*", "audio:all", "voices:create", "*:operate"], []],
    [["nosuch"], ["nosuch"]],
    [["read", "voices:read"], ["read"]],
    [
      ["audio:read", "models:*", "*:nosuch", "audio"],
      ["audio:read", "models:*", "*:nosuch", "audio"]
    ]
  ])("of %j are unknown: %j", (grants, unknown) => {
    assert.deepStrictEqual(unknownGrants(grants), unknown)
  })

  it.each([
    [[], "viewer"],
    [["voices:read", "*:read"], "viewer"],
    [["audio:speech"], "member"],
    [["voices:read", "pipeline:*"], "member"],
    [["console:write", "voices:*"], "member"],
    [["*"], "admin"]
  ] as const)("%j need at least a %s", (grants, role) => {
    assert.strictEqual(leastRole(grants), role)
  })

  it.each([
    ["viewer", ["*", "voices:*", "voices:read"], []],
    ["viewer", ["voices:create", "audio:*", "*:write"], ["voices:create", "audio:*", "*:write"]],
    ["member", ["voices:create", "audio:*", "*"], []]
  ] as const)("that a %s cannot use, from %j, are %j", (role, grants, beyond) => {
    assert.deepStrictEqual(grantsBeyond(role, grants), beyond)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Kv } from "#bus"
import { type Cell, ModelUptime, modelUptimeKey, quarterOf, withBatch } from "#gateway/contract"
import { isoTime } from "#base"
import { commandsHere, objectsIn } from "../../../support/command.ts"
import { itemsOf, type Json, withConsole } from "../../../support/console.ts"

const via = { Upstreams: [{ Provider: "plain", Model: "m" }] }
const sold = {
  ModelGateway: {
    Providers: [{ Name: "plain", BaseUrl: "http://127.0.0.1:9/v1" }],
    Models: [
      {
        Id: "demo/tokens",
        ...via,
        InputMicroUsdPerMillionTokens: 1_500_000,
        OutputMicroUsdPerMillionTokens: 3_000_000
      },
      { Id: "demo/free", ...via, Free: true },
      { Id: "demo/picture", ...via, Kind: "image", FlatMicroUsd: 20_000 }
    ]
  }
}

const hoursInMonth = 720

/** As a gateway writes it: 9 of 10 answered now, and all of a hundred three weeks ago. */
const calledModel = Effect.gen(function* () {
  const nowMs = yield* Clock.currentTimeMillis
  const quarter = quarterOf(nowMs)
  const calls: ReadonlyArray<Cell> = [
    [quarter, 9, 1, 0, 3],
    [quarter - 4 * (hoursInMonth - 200), 100, 0, 0, 0]
  ]
  const providers = new Map([["plain", [[quarter, 9, 1, 0, 3] as const satisfies Cell]]])
  const record = withBatch(undefined, { writer: "one", batch: 1, model: "demo/tokens", calls, providers }, nowMs)
  assert.isDefined(record)
  const bucket = yield* (yield* Kv).open("model-uptime", ModelUptime)
  yield* bucket.create(modelUptimeKey("demo/tokens"), record)
  return quarter
})

describe("models on the console", () => {
  it.live("are those of the configuration by name, with prices and without an uptime before any call", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { body } = yield* call("GET /models")
          const [free = {}, picture = {}, tokens = {}] = itemsOf(body)
          assert.strictEqual(body["nextCursor"], null)
          assert.deepInclude(free, { model: "demo/free", isFree: true, providers: [] })
          assert.deepInclude(picture, {
            kind: "image",
            flatMicroUsd: 20_000,
            inputMicroUsdPerMillionTokens: null,
            outputMicroUsdPerMillionTokens: null
          })
          assert.deepInclude(tokens, { inputMicroUsdPerMillionTokens: 1_500_000, flatMicroUsd: null })
          assert.deepInclude(free["lastDay"], { uptime: null, calls: 0, series: [], spanSeconds: 900 })

          const first = yield* call("GET /models?limit=2")
          assert.deepStrictEqual(itemsOf(first.body), [free, picture])
          const next = yield* call(`GET /models?limit=2&cursor=${String(first.body["nextCursor"])}`)
          assert.deepStrictEqual([itemsOf(next.body), next.body["nextCursor"]], [[tokens], null])
          assert.strictEqual((yield* call("GET /models?limit=0")).status, 400)
          assert.strictEqual((yield* call("GET /models?cursor=bm90aGluZw")).status, 400)
        }),
      sold
    )
  )

  it.live("have the uptime of a day and of thirty days, by provider too", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const quarter = yield* calledModel
          const [, , tokens = {}] = itemsOf((yield* call("GET /models")).body)
          const [day, month] = [tokens["lastDay"] as Json, tokens["lastMonth"] as Json]
          assert.deepInclude(day, { uptime: 0.9, calls: 10, answered: 9, failed: 1, leftAlone: 0, limited: 3 })
          assert.deepStrictEqual(day["series"], [
            { at: isoTime(quarter * 900_000), answered: 9, failed: 1, leftAlone: 0, limited: 3 }
          ])
          assert.deepInclude(month, { uptime: 109 / 110, calls: 110, spanSeconds: 86_400 })
          assert.lengthOf(month["series"] as ReadonlyArray<Json>, 2)
          const [provider] = tokens["providers"] as ReadonlyArray<Json>
          assert.strictEqual(provider?.["provider"], "plain")
          assert.deepInclude(provider?.["lastMonth"], { uptime: 0.9, calls: 10 })
        }),
      sold
    )
  )

  it.live("are listed by a command with prices and uptime, and without a call it says what makes one", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          const none = yield* run(["models"])
          assert.strictEqual(none.code, 0, none.error)
          assert.include(none.error, "no call has been counted yet")
          yield* calledModel
          const { out, error } = yield* run(["models"])
          assert.strictEqual(error, "")
          assert.match(out, /^model +price, USD +context +up, 24 h +calls +up, 30 d +calls/u)
          assert.match(out, /\ndemo\/free +free +128000 +- +0 +- +0\n/u)
          assert.match(out, /\ndemo\/picture +0\.02\d* a call /u)
          assert.match(
            out,
            /\ndemo\/tokens +1\.5\d* in, 3\S* out, a million tokens +128000 +90 % +10 +99\.09 % +110\n/u
          )
          const whole = objectsIn(yield* run(["models", "--json"]))
          assert.deepStrictEqual(whole, itemsOf((yield* call("GET /models")).body))
        }),
      sold
    )
  )
})

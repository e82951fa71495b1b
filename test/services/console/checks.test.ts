import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable, StreamReader } from "#bus"
import { type TokenRecord, Tokens } from "#http"
import { Health, Metrics } from "#runtime"
import { consoleChecks, endingSoon } from "../../../services/console/checks.ts"

const dayMs = 86_400_000
const nowMs = Date.parse("2026-06-01T00:00:00Z")
const at = (days: number) => new Date(nowMs + days * dayMs).toISOString()

const token = (id: string, changes: Partial<TokenRecord> = {}): TokenRecord => ({
  id,
  workspace: "default",
  kind: "member",
  role: "member",
  scopes: ["*"],
  createdAt: at(-80),
  revokedAt: null,
  expiresAt: at(5),
  ...changes
})
const { expiresAt: _, ...endless } = token("endless")

describe("the tokens of a fleet", () => {
  it.each([
    ["one that ends in five days", [token("a")], "within seven days end a"],
    ["one with a label", [token("a", { label: "ci" })], "within seven days end a (ci)"],
    ["one that ends in eight days", [token("a", { expiresAt: at(8) })], undefined],
    ["one that has ended", [token("a", { expiresAt: at(-0.1) })], undefined],
    ["one that never ends", [endless], undefined],
    ["one that was revoked", [token("a", { revokedAt: at(-1) })], undefined],
    ["one that was made for a week", [token("a", { createdAt: at(-1) })], undefined],
    ["a session of a page", [token("a", { maker: "b" })], undefined],
    ["a session of a person", [token("a", { person: "Ada" })], undefined],
    [
      "seven of them",
      ["a", "b", "c", "d", "e", "f", "g"].map((id) => token(id)),
      "within seven days end a, b, c, d, e and 2 more"
    ]
  ])("with %s are judged", (_, all, expected) => {
    assert.strictEqual(endingSoon(all, nowMs), expected)
  })
})

describe("a console", () => {
  it.effect("says which stream will soon refuse, and nothing new while the broker is away", () => {
    const used = new Map<string, number | "away">([["RECEIPTS", 81]])
    const figures = Effect.fnUntraced(function* (stream: string) {
      const bytes = used.get(stream) ?? 0
      if (bytes === "away") return yield* new BusUnavailable({ operation: "read the figures", detail: "no answer" })
      return { bytes, bytesMax: stream === "LOG" ? null : 100 }
    })
    const parts = Layer.mergeAll(
      Layer.succeed(StreamReader, { figures } as never),
      Layer.succeed(Tokens, { list: Effect.succeed([token("a")]) } as never)
    )
    return Effect.gen(function* () {
      yield* TestClock.setTime(nowMs)
      yield* Layer.build(consoleChecks.pipe(Layer.provide(parts)))
      const shown = Effect.map((yield* Health).ready, ({ checks }) => checks)
      yield* TestClock.adjust(0)
      const full = "more than 80 % of its room is used; full, it refuses what comes"
      assert.deepInclude(yield* shown, { "tokens fleet": "within seven days end a", "room RECEIPTS": full })
      assert.deepInclude(yield* shown, { "room SETTLEMENTS": "ok", "room LOG": "ok" })
      assert.notProperty(yield* shown, "room ATTEMPTS")
      used.set("RECEIPTS", "away")
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* shown, { "room RECEIPTS": full })
      used.set("RECEIPTS", 80)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* shown, { "room RECEIPTS": "ok" })
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Health.layer, Metrics.layerTest)))
  })
})

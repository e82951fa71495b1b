import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { lineLogger, Role } from "#runtime"
import { makeSecrets, Secrets } from "../../../libs/runtime/Secrets.ts"

const secret = 'hunter2"with\\odd characters'

const logged = (log: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const secrets = makeSecrets()
    secrets.add(secret)
    const layer = Layer.mergeAll(
      Logger.layer([lineLogger("json", (line) => void lines.push(line))]),
      Layer.succeed(Role, "trial-role"),
      Layer.succeed(Secrets, secrets)
    )
    yield* log.pipe(Effect.provide(layer))
    assert.lengthOf(lines, 1)
    return lines[0] ?? ""
  })

describe("a log line", () => {
  it.effect("shows no secret, also not one that JSON writes differently", () =>
    Effect.gen(function* () {
      const line = yield* logged(
        Effect.logInfo(`called with ${secret}`, new Error(secret)).pipe(
          Effect.annotateLogs({ plain: secret, nested: { deep: [secret] } })
        )
      )
      assert.notInclude(line, "hunter2")
      assert.notInclude(JSON.stringify(JSON.parse(line)), "odd characters")
      assert.strictEqual((JSON.parse(line) as { plain: string }).plain, "<redacted>")
    })
  )

  it.effect("of what has no end is still an object, says that it is shortened, and keeps what it is about", () =>
    Effect.gen(function* () {
      const long = "long ".repeat(20_000)
      const line = yield* logged(
        Effect.logError(long, new Error(long)).pipe(Effect.annotateLogs({ endpoint: "ci", body: long }))
      )
      assert.isAtMost(line.length, 8_192)
      const entry = JSON.parse(line) as Record<string, unknown>
      assert.deepInclude(entry, { level: "ERROR", role: "trial-role", endpoint: "ci", truncated: true })
      for (const field of ["message", "error", "body"]) assert.include(String(entry[field]), "long long")
    })
  )

  it.effect("has no half of a secret where it is cut", () =>
    Effect.gen(function* () {
      for (let at = 995; at <= 1_024; at++) {
        const line = yield* logged(Effect.logInfo(`${"x".repeat(at)}${secret}${"y".repeat(10_000)}`))
        assert.notInclude(line, "hun")
      }
    })
  )

  it.effect("writes a whole number of any size, and what refers to itself", () =>
    Effect.gen(function* () {
      const circle: { self?: unknown } = {}
      circle.self = circle
      const line = yield* logged(Effect.logInfo("sum").pipe(Effect.annotateLogs({ amount: 12n, circle })))
      assert.deepInclude(JSON.parse(line), { amount: "12", circle: { self: "[seen]" } })
    })
  )
})

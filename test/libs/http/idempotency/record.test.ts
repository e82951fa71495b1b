import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { HttpCall, idempotencyKey } from "#http"
import { callFacts } from "../forms/forms.ts"

describe("an idempotency key", () => {
  const keyOf = (header: string | undefined, field: string | undefined) =>
    idempotencyKey(field).pipe(
      Effect.provideService(HttpCall, {
        ...callFacts,
        header: (name) => Option.fromNullishOr(name === "idempotency-key" ? header : undefined)
      })
    )

  it.effect("comes as a header, as a field, or as both when they agree", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* keyOf(undefined, undefined), undefined)
      assert.strictEqual(yield* keyOf("a", undefined), "a")
      assert.strictEqual(yield* keyOf(undefined, "a"), "a")
      assert.strictEqual(yield* keyOf("a", "a"), "a")
      assert.strictEqual((yield* keyOf("😀".repeat(255), undefined))?.length, 510)
    })
  )

  const faulty: ReadonlyArray<readonly [string, string | undefined, string | undefined, ReadonlyArray<string>]> = [
    ["two that differ", "a", "b", ["idempotency_key"]],
    ["an empty header", "", undefined, ["Idempotency-Key"]],
    ["an empty field", undefined, "", ["idempotency_key"]],
    ["256 characters", undefined, "x".repeat(256), ["idempotency_key"]],
    ["a control character", undefined, "a\u0007", ["idempotency_key"]],
    ["a line break", undefined, "a\n", ["idempotency_key"]],
    ["a C1 control character", "a\u0085", undefined, ["Idempotency-Key"]]
  ]
  for (const [what, header, field, paths] of faulty) {
    it.effect(`is refused as ${what}`, () =>
      Effect.gen(function* () {
        const failed = yield* Effect.flip(keyOf(header, field))
        assert.deepInclude(failed, { status: 400, code: "validation_failed" })
        assert.deepStrictEqual(Object.keys(failed.fields ?? {}), paths)
      })
    )
  }
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openLedger } from "../../../../services/cli/payer/Ledger.ts"

describe("the payer's log", () => {
  it.effect("has one line for a call, whatever its model and its gateway say", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const ledger = yield* openLedger(1_000_000n, (line) => Effect.sync(() => void lines.push(line)))
      const said = "402 the quote\n2026-01-01 /fake · charged 0\r\u2028\u001b[31m"
      yield* ledger.end({ path: "/v1/messages", model: "a\nb", said })
      assert.lengthOf(lines, 1)
      assert.notMatch(lines[0] ?? "", /[\p{Cc}\u2028\u2029]/u)
      assert.include(lines[0] ?? "", "/v1/messages a b · 402 the quote 2026-01-01 /fake")
    })
  )
})

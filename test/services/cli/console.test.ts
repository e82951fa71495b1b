import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Environment } from "#runtime"
import { textWithin } from "../../../services/cli/console.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const lexicon = { bytesMax: 1_000, tooLong: "is larger than a lexicon may be" }

describe("a text that a command reads from a file", () => {
  it.effect("is taken whole up to its limit, and refused as asked wrongly beyond it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const of = (bytes: number) => {
        const file = join(folder, `${bytes}.txt`)
        writeFileSync(file, "x".repeat(bytes))
        return textWithin({ file, ...lexicon })
      }
      assert.strictEqual((yield* of(1_000)).length, 1_000)
      for (const bytes of [1_001, 300_000]) {
        const refused = yield* Effect.flip(of(bytes))
        assert.deepInclude(refused, { exitCode: 2 })
        assert.include(refused.reason, "is larger than a lexicon may be")
      }
    }).pipe(Effect.provideService(Environment, {}), Effect.scoped)
  )
})

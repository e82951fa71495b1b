import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { allDocuments } from "../../services/cli/documents.ts"

describe("the house", () => {
  it.effect("keeps its generated documents up to date", () =>
    Effect.map(allDocuments, (documents) => {
      for (const { path, content } of documents) {
        assert.strictEqual(readFileSync(path, "utf8"), content, `${path} is stale: run ./starling docs`)
      }
    })
  )
})

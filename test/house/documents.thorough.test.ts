import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { generatedDocuments } from "../../services/fleet/documents.ts"

describe("the house", () => {
  it("keeps its generated documents up to date", () => {
    for (const { path, content } of generatedDocuments()) {
      assert.strictEqual(readFileSync(path, "utf8"), content, `${path} is stale: run ./starling docs`)
    }
  })
})

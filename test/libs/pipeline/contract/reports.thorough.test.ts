/** Reports with anything in their fields. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeReport } from "#pipeline/contract"
import { example } from "./report-material.ts"

describe("an incoming report", () => {
  it.prop("never crashes the decoder, whatever its fields contain", [Schema.Json], ([value]) => {
    for (const kind of ["progress", "audit-ended", "smoke-result", "pull-request-mergeability"]) {
      const good = example(kind)
      for (const key of Object.keys(good)) {
        const decoded = decodeReport(kind, { ...good, [key]: value })
        // Faults lead to that field, or below it.
        if (Result.isFailure(decoded))
          for (const { path } of decoded.failure) assert.match(path, new RegExp(`^/${key}`, "u"))
      }
    }
  })
})

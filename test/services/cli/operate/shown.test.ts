import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "../../../../services/cli/answers.ts"
import { withoutUndefined, refusalLines } from "../../../../services/cli/operate/client.ts"

describe("what the console answers, in a terminal", () => {
  it("is a field a line, with lists and inner fields further in", () => {
    const lines = linesOf({ id: 7, next: null, tags: ["a", "b"], by: { name: "ada" }, attempts: [{ n: 1 }, { n: 2 }] })

    assert.deepStrictEqual(lines, [
      "id: 7",
      "next: -",
      "tags: a, b",
      "by:",
      "  name: ada",
      "attempts:",
      "  -",
      "    n: 1",
      "  -",
      "    n: 2"
    ])
  })

  it("leaves options out of a query that were not given", () => {
    assert.deepStrictEqual(withoutUndefined({ endpoint: "demo", outcome: undefined }), { endpoint: "demo" })
  })

  it("tells a refusal with each field, and how to get the scopes that are missing", () => {
    const told = refusalLines({
      error: {
        code: "insufficient_scope",
        message: "this needs the scope\nconsole:write",
        fields: { limit: "must be from 1 to 200" },
        details: { scopes: ["console:write"] }
      },
      request_id: "r"
    }).split("\n")

    assert.deepStrictEqual(told.slice(0, 2), ["this needs the scope console:write", "  limit: must be from 1 to 200"])
    assert.include(told[2], "token make --role admin")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { refusalLines } from "../../../../services/cli/say/client.ts"

const refusal = (error: object, retryAfter?: string) =>
  refusalLines({ status: 400, retryAfter, body: JSON.stringify({ error, request_id: "req_1" }) })

describe("a refusal of the speech API", () => {
  it("is one line, and one more for each field", () => {
    const fields = { model: "no such model: x", language: "not\na language" }
    assert.strictEqual(
      refusal({ code: "validation_failed", message: "2 fields are not valid", fields }),
      "2 fields are not valid (400 validation_failed, req_1)\n  model: no such model: x\n  language: not a language"
    )
  })

  it("does not repeat the message of its only field", () => {
    const said = refusal({ code: "validation_failed", message: "no such tag", fields: { input: "no such tag" } })
    assert.strictEqual(said, "input: no such tag (400 validation_failed, req_1)")
  })

  it("says when to retry", () => {
    const said = refusal({ code: "rate_limited", message: "too many" }, "7")
    assert.strictEqual(said, "too many (400 rate_limited, req_1); try again in 7 s")
  })

  it("is shown verbatim when it is not one of ours", () => {
    const body = "<html>\n Bad\n gateway</html>"
    assert.strictEqual(
      refusalLines({ status: 502, retryAfter: undefined, body }),
      "the speech API answered 502: <html> Bad gateway</html>"
    )
  })
})

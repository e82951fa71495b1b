import { assert, describe, it } from "@effect/vitest"
import { amended, badRequest, serviceUnavailable } from "#http"

describe("a refusal", () => {
  it("that is amended keeps what it says, and says the new part beside it", () => {
    const plain = badRequest("it is wrong")
    assert.notProperty(amended(plain, {}), "details")
    assert.deepStrictEqual(amended(plain, { details: { b: 2 } }).details, { b: 2 })
    const detailed = badRequest("it is wrong", { a: 1, b: 1 })
    const more = amended(detailed, { details: { b: 2 }, headers: { "x-a": "1" } })
    assert.deepStrictEqual([more.details, more.headers], [{ a: 1, b: 2 }, { "x-a": "1" }])
    assert.deepStrictEqual(amended(more, { headers: { "x-b": "2" } }).headers, { "x-a": "1", "x-b": "2" })
    assert.deepInclude(more, { status: 400, code: "bad_request", message: "it is wrong" })
  })

  it("tells whole seconds to wait, at least one, and never too few", () => {
    const seconds = [0, 0.2, 1, 1.2, 60].map((wait) => serviceUnavailable(wait).headers?.["retry-after"])
    assert.deepStrictEqual(seconds, ["1", "1", "1", "2", "60"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { classifyUpstream, readUpstreamError } from "../../../../services/model-gateway/errors/upstream-error.ts"
import { computed } from "../../../support/processor-time.ts"
import { itIsTheCode, openAi, type Refusal } from "./upstream-refusals.ts"

/** Refusals of proxies on the way, and undocumented ones. */
const refusals: ReadonlyArray<Refusal> = [
  ["proxy, page", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "MODEL_UNAVAILABLE"],
  ["proxy, timeout", 504, "<html><title>504 Gateway Time-out</title></html>", "TIMEOUT"],
  ["Cloudflare, timeout", 524, "error code: 524", "TIMEOUT"],
  [
    "a parameter as 500",
    500,
    openAi("Unknown parameter: 'foo'.", "invalid_request_error", "unknown_parameter", "foo"),
    "INVALID_PARAMETER",
    "foo"
  ],
  ["an empty 400", 400, "", "INVALID_REQUEST"],
  ["an empty 418", 418, "", "INVALID_REQUEST"],
  ["an empty 500", 500, "", "INTERNAL_ERROR"],
  ["JSON that is no object", 400, "17", "INVALID_REQUEST"]
]

describe("a provider's refusal", () => {
  itIsTheCode(refusals)

  it("of status 4xx is never our internal error, whatever its message", () => {
    for (let status = 400; status < 500; status++) {
      for (const text of ["", "{}", "null", '{"error":"x"}', "<html>", "[]"]) {
        assert.notStrictEqual(
          classifyUpstream(readUpstreamError(status, "", text)).code,
          "INTERNAL_ERROR",
          `${status} ${text}`
        )
      }
    }
  })

  it("is read by its first words, however much of the request it repeats", () => {
    // The longer one is cut before it is parsed.
    for (const units of [50_000, 500_000]) {
      const echo = "x".repeat(units)
      const body = openAi(`Unknown parameter: 'foo'. ${echo}`, "invalid_request_error", null, echo)
      const error = readUpstreamError(400, "application/json", JSON.stringify(body))
      assert.strictEqual(classifyUpstream(error).code, "INVALID_PARAMETER")
      assert.isAtMost(error.message.length, 2_000)
      assert.isAtMost(error.param?.length ?? 0, 200)
    }
  })

  /** Words with which a rule begins, over and over: each of them is tried, and none is found. */
  const beginnings = [
    "download",
    "downloading ",
    "reasoning' ",
    "account ",
    "prompt ",
    "messages ",
    "model ",
    "exceeds the model ",
    "must be ",
    "no available ",
    "'a.",
    "'a",
    "a.b",
    "<title>",
    " ",
    "\n<",
    "max_completion_",
    "tool_use",
    "content "
  ]
  for (const beginning of beginnings) {
    it(`of 64 kB of ${JSON.stringify(beginning)} holds nothing up`, () => {
      const echo = beginning.repeat(Math.floor(65_000 / beginning.length))
      const texts = [echo, `{"error":${JSON.stringify({ message: echo, param: echo, type: echo, code: echo })}}`]
      const { processorMs } = computed(() => {
        for (const text of texts) {
          for (const status of [200, 400, 500]) classifyUpstream(readUpstreamError(status, "", text))
        }
      })
      // Uncut, the worst of them take seconds; the bound is a collection of garbage.
      assert.isBelow(processorMs, 200)
    })
  }
})

import { assert, describe, it } from "@effect/vitest"
import { classifyUpstream, readUpstreamError } from "../../../../services/model-gateway/errors/upstream-error.ts"
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
})

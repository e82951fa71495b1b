import { describe, expect, it } from "vitest"
import { errorCodeOf } from "../../../page/design/error-code.ts"

describe("the short code of an error", () => {
  it.each([
    ["Unreachable: connect: 127.0.0.1 ECONNREFUSED", "ECONNREFUSED"],
    ["DeadlineExceeded: no complete answer within 1000 ms, it ended waiting for: headers", "timeout"],
    ["no success in 1 attempts, last: Unreachable: connect: 127.0.0.1 ECONNREFUSED", "ECONNREFUSED"],
    ["no success in 2 attempts, last: status 503", "503"],
    ["410 Gone", "410"],
    ["self-signed certificate in certificate chain", "TLS"],
    ["insufficient_funds", "insufficient_funds"],
    ["TransferFailed: the token refused", "TransferFailed"],
    ["nobody knows", "error"]
  ])("of %s is %s", (text, code) => {
    expect(errorCodeOf(text)).toBe(code)
  })
})

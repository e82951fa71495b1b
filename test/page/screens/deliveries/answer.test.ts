import { describe, expect, it } from "vitest"
import { whyNoAnswer } from "../../../../page/screens/deliveries/answer.ts"

const kept = {
  requestHeaders: { "x-try": "1" },
  responseHeaders: { date: "now" },
  responseBody: "the database is away"
}
const unread = { requestHeaders: null, responseHeaders: null, responseBody: null }
const failed = { outcome: "failed", status: 500, error: null } as const

describe("the words in place of an attempt's answer", () => {
  it.each([
    [
      "a success keeps its status alone",
      { ...unread, outcome: "delivered", status: 204, error: null },
      /204.*success/u
    ],
    ["a token may not read payloads", { ...failed, ...unread }, /payloads:read/u],
    [
      "nobody answered",
      { ...failed, ...kept, status: null, error: "timeout", responseBody: "" },
      /No answer: timeout/u
    ],
    ["an answer had no body", { ...failed, ...kept, responseBody: "" }, /500 with an empty body/u]
  ] as const)("say that %s", (_, attempt, words) => {
    expect(whyNoAnswer(attempt)).toMatch(words)
  })

  it("are not needed beside an answer that is shown", () => {
    expect(whyNoAnswer({ ...failed, ...kept })).toBeUndefined()
  })
})

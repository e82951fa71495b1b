import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  checkChat,
  checkMessages,
  checkRequest,
  checkResponses
} from "../../../../services/model-gateway/requests/dialects.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"

describe("a conversation", () => {
  const call = { id: "c1", type: "function", function: { name: "x", arguments: "{}" } }
  const codeOf = (checked: ReturnType<typeof checkChat>) => (Result.isFailure(checked) ? checked.failure.code : "fine")
  const table: ReadonlyArray<readonly [string, typeof checkChat, JsonObject, string]> = [
    ["only system", checkChat, { messages: [{ role: "system" }, { role: "developer" }] }, "EMPTY_CONVERSATION"],
    ["a user", checkChat, { messages: [{ role: "system" }, { role: "user" }] }, "fine"],
    ["a result of no call", checkChat, { messages: [{ role: "tool", tool_call_id: "c1" }] }, "TOOL_ID_FORMAT_ERROR"],
    ["a call without id", checkChat, { messages: [{ role: "assistant", tool_calls: [{}] }] }, "TOOL_ID_FORMAT_ERROR"],
    [
      "a number as id",
      checkChat,
      { messages: [{ role: "assistant", tool_calls: [{ id: 7 }] }] },
      "TOOL_ID_FORMAT_ERROR"
    ],
    [
      "a result of a call",
      checkChat,
      {
        messages: [
          { role: "assistant", tool_calls: [call] },
          { role: "tool", tool_call_id: "c1" }
        ]
      },
      "fine"
    ],
    [
      "reasoning as object",
      checkChat,
      { messages: [{ role: "assistant", reasoning_content: [] }] },
      "REASONING_FORMAT_ERROR"
    ],
    ["reasoning as null", checkChat, { messages: [{ role: "assistant", reasoning_content: null }] }, "fine"],
    [
      "unsigned thinking",
      checkMessages,
      { messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "x" }] }] },
      "REASONING_FORMAT_ERROR"
    ],
    [
      "a result of no use",
      checkMessages,
      { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "x" }] }] },
      "TOOL_ID_FORMAT_ERROR"
    ],
    [
      "an output of no call",
      checkResponses,
      { input: [{ type: "function_call_output", call_id: "x" }] },
      "TOOL_ID_FORMAT_ERROR"
    ],
    ["only developer input", checkResponses, { input: [{ role: "developer", content: "x" }] }, "EMPTY_CONVERSATION"],
    ["a plain input", checkResponses, { input: "x" }, "fine"]
  ]
  it.each(table.map((row) => ({ row, name: row[0] })))("is checked before its payment: $name", ({ row }) => {
    const [, check, request, code] = row
    assert.strictEqual(codeOf(check(request)), code)
  })
})

describe("a request", () => {
  const chat = { model: "a/b", messages: [{ role: "user", content: "x" }] }
  const codeOf = (request: JsonObject) => {
    const checked = checkRequest("chat", request)
    return Result.isFailure(checked) ? checked.failure.code : "fine"
  }

  it("has no more keys, and no more texts that stop its answer, than any provider takes", () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))
    assert.strictEqual(codeOf({ ...chat, ...keys(254) }), "fine")
    assert.strictEqual(codeOf({ ...chat, ...keys(255) }), "REQUEST_TOO_LARGE")
    const stops = (count: number) => ({ ...chat, stop: Array.from({ length: count }, (_, at) => `s${at}`) })
    assert.strictEqual(codeOf(stops(64)), "fine")
    assert.strictEqual(codeOf(stops(65)), "INVALID_REQUEST_BODY")
  })
})

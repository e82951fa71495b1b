import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { checkChat, checkMessages, checkResponses } from "../../../services/model-gateway/requests/dialects.ts"
import { clientAddress } from "../../../services/model-gateway/models/FreeTier.ts"
import { promptSize } from "../../../services/model-gateway/requests/read-call.ts"
import { suggestModels } from "../../../services/model-gateway/models/ModelRegistry.ts"
import type { JsonObject } from "../../../services/model-gateway/translate/json.ts"

describe("the caller's address, by which calls are counted,", () => {
  const addressOf = clientAddress(["10.0.0.0/8", "127.0.0.1/32", "fd00::/8"])
  const table = [
    ["203.0.113.7", undefined, "203.0.113.7"],
    ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["::ffff:203.0.113.7", undefined, "203.0.113.7"],
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "192.0.2.66, 198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "192.0.2.66, 198.51.100.1, 10.0.0.9", "198.51.100.1"],
    ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1:5555", "198.51.100.1"],
    ["fd00::1", "[2001:db8:1:2::99]:443", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::7", undefined, "2001:db8:1:2::/64"],
    ["2001:db8::1", undefined, "2001:db8:0:0::/64"],
    ["::1", undefined, "0:0:0:0::/64"]
  ] as const

  it.each(table.map((row) => ({ row, name: `${row[0]} for ${row[1] ?? "nobody"}` })))("is found: $name", ({ row }) => {
    const [peer, forwardedFor, expected] = row
    assert.strictEqual(addressOf(peer, forwardedFor), expected)
  })

  it("cannot be chosen by a caller with any header", () => {
    for (const forged of ["1.1.1.1", "10.0.0.5", "", ",,,", "1.1.1.1, 10.0.0.5"]) {
      assert.strictEqual(addressOf("10.0.0.1", `${forged}, 198.51.100.1, 10.2.3.4`), "198.51.100.1")
    }
  })
})

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

describe("a prompt", () => {
  it("is measured by its text, its messages and its images, equally in every API dialect", () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(9_000)}` } }
    const chat = {
      model: "x".repeat(99),
      messages: [{ role: "user", content: [{ type: "text", text: "héllo" }, picture] }]
    }
    assert.deepStrictEqual(promptSize(chat), { textBytes: 4 + 4 + 6, messages: 1, images: 1 })
    assert.deepStrictEqual(promptSize({ input: "abc", instructions: "de" }), { textBytes: 5, messages: 1, images: 0 })
    assert.isAbove(promptSize({ messages: [], tools: [{ name: "x".repeat(500) }] }).textBytes, 499)
  })
})

describe("a mistaken id", () => {
  it("gets the nearest ids first", () => {
    const known = [
      "demo/echo",
      "openai/gpt-5",
      "openai/gpt-5-mini",
      "anthropic/claude-opus",
      "demo/free",
      "demo/nostream"
    ]
    assert.strictEqual(suggestModels("openai/gpt5", known)[0], "openai/gpt-5")
    assert.strictEqual(suggestModels("claude-opus", known)[0], "anthropic/claude-opus")
    assert.isAtMost(suggestModels("x".repeat(1_000_000), known).length, 5)
  })
})

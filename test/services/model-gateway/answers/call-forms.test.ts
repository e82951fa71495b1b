import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { callForms } from "../../../../services/model-gateway/answers/call-forms.ts"
import { wholeAnswer } from "../../../../services/model-gateway/answers/translation.ts"
import type { ApiDialect } from "../../../../services/model-gateway/conversation/Conversation.ts"
import { readConversation } from "../../../../services/model-gateway/requests/dialects.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { written } from "../../../support/conversations.ts"

/** A caller's request, and what it gets when the provider calls the first of the tools that it was given. */
const called = (dialect: ApiDialect, request: JsonObject, input: string) => {
  const { conversation } = Result.getOrThrow(readConversation(dialect, request))
  const { body } = Result.getOrThrow(written(dialect, request, { to: "openai" }))
  const [tool] = body["tools"] as ReadonlyArray<{ readonly function: { readonly name: string } }>
  const call = { id: "c1", type: "function", function: { name: tool?.function.name, arguments: input } }
  const answer = {
    id: "a",
    choices: [{ message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" }]
  }
  const shape = {
    dialect,
    model: "a/b",
    nowSeconds: 1,
    includesUsage: false,
    inputTokens: 1,
    request,
    calls: callForms(conversation)
  }
  return Result.getOrThrow(wholeAnswer(shape, "openai", answer))
}

describe("a call of a tool", () => {
  const json = { type: "object" }
  it.each<readonly [JsonObject, string, JsonObject]>([
    [
      { type: "function", name: "look", parameters: json },
      '{"at":1}',
      { type: "function_call", name: "look", arguments: '{"at":1}' }
    ],
    [
      { type: "namespace", name: "mcp", tools: [{ type: "function", name: "list", parameters: json }] },
      "{}",
      { type: "function_call", name: "list", namespace: "mcp", arguments: "{}" }
    ],
    [
      { type: "custom", name: "apply_patch" },
      '{"input":"*** Begin"}',
      { type: "custom_tool_call", name: "apply_patch", input: "*** Begin" }
    ],
    [
      { type: "local_shell" },
      '{"command":["ls"],"timeout_ms":5}',
      { type: "local_shell_call", action: { type: "exec", env: {}, command: ["ls"], timeout_ms: 5 } }
    ],
    [
      { type: "shell" },
      '{"commands":["ls"]}',
      { type: "shell_call", action: { commands: ["ls"], timeout_ms: null, max_output_length: null } }
    ],
    [
      { type: "apply_patch" },
      '{"type":"delete_file","path":"a"}',
      { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } }
    ],
    [
      { type: "tool_search", execution: "client", parameters: json },
      '{"query":"crm"}',
      { type: "tool_search_call", execution: "client", arguments: { query: "crm" } }
    ]
  ])("comes back in the form in which responses' caller declared it: %j", (tool, input, item) => {
    const { output } = called("responses", { input: "x", tools: [tool] }, input)
    const [made] = output as ReadonlyArray<JsonObject>
    assert.deepInclude(made, { ...item, call_id: "c1", status: "completed" })
  })

  it("comes back under the caller's own name, whatever its provider takes", () => {
    const name = "mcp__a.server__" + "x".repeat(80)
    const request = { messages: [{ role: "user", content: "x" }], tools: [{ name, input_schema: json }] }
    const { content } = called("messages", request, "{}")
    assert.deepInclude((content as ReadonlyArray<JsonObject>)[0], { type: "tool_use", name })
  })
})

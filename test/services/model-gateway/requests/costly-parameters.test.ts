import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { costlyParameters } from "#gateway/contract"
import { decodeConfiguration } from "#configuration"
import type { ApiDialect } from "../../../../services/model-gateway/conversation/Conversation.ts"
import { soldTools } from "../../../../services/model-gateway/conversation/sold-tools.ts"
import { readConversation } from "../../../../services/model-gateway/requests/dialects.ts"
import { soldRequest } from "../../../../services/model-gateway/requests/read-call.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"

const paramOf = (request: JsonObject) => {
  const sold = soldRequest(request, [])
  return Result.isFailure(sold) ? [sold.failure.code, sold.failure.param] : "sold"
}

/** What becomes of a request's tools: refused by its place, or what is left out. */
const toolsOf = (dialect: ApiDialect, request: JsonObject, extras: ReadonlyArray<string> = []) => {
  const { conversation } = Result.getOrThrow(readConversation(dialect, { messages: [], input: "x", ...request }))
  const sold = soldTools(conversation, extras)
  return Result.isFailure(sold) ? [sold.failure.code, sold.failure.param] : sold.success.leftOut
}

describe("a parameter that costs extra upstream", () => {
  it.each(costlyParameters)("%s is refused, and sold when the model's configuration names it", (name) => {
    const request = { model: "m", [name]: [{ type: "anything" }] }
    assert.deepStrictEqual(paramOf(request), ["INVALID_PARAMETER", name])
    assert.deepStrictEqual(soldRequest(request, [name]), Result.succeed(request))
  })

  it.each<readonly [JsonObject, string]>([
    [{ service_tier: "priority" }, "service_tier"],
    [{ service_tier: "flex" }, "service_tier"],
    [{ speed: "fast" }, "speed"],
    [{ modalities: ["text", "audio"] }, "modalities"],
    [{ audio: { voice: "alloy", format: "mp3" } }, "audio"],
    [{ web_search_options: {} }, "web_search_options"],
    [{ search_parameters: { mode: "auto" } }, "search_parameters"],
    [{ enable_search: true }, "enable_search"],
    [{ prediction: { type: "content", content: "x" } }, "prediction"],
    [{ models: ["dear/one"] }, "models"],
    [{ mcp_servers: [{ type: "url", url: "https://a.example" }] }, "mcp_servers"]
  ])("%j is refused by name", (request, param) => {
    assert.deepStrictEqual(paramOf(request), ["INVALID_PARAMETER", param])
  })

  it.each<JsonObject>([
    { service_tier: "auto" },
    { service_tier: "default" },
    { service_tier: "standard_only" },
    { service_tier: null },
    { modalities: ["text"] },
    { modalities: null },
    { audio: null },
    { speed: "standard" },
    { inference_geo: "global" },
    { search_parameters: { mode: "off" } },
    { enable_search: false },
    { mcp_servers: [] },
    { web_search_options: null }
  ])("%j requests nothing beyond the usual, and is left out", (usual) => {
    assert.deepStrictEqual(soldRequest({ model: "m", ...usual }, []), Result.succeed({ model: "m" }))
  })

  it.each<readonly [ApiDialect, JsonObject, string]>([
    ["chat", { type: "web_search" }, "tools.web_search"],
    ["chat", { type: "builtin_function", function: { name: "$web_search" } }, "tools.builtin_function"],
    ["chat", { google_search: {} }, "tools.google_search"],
    ["messages", { type: "web_search_20250305", name: "web_search" }, "tools.web_search"],
    ["messages", { type: "web_fetch_20250910", name: "web_fetch" }, "tools.web_fetch"],
    ["messages", { type: "code_execution_20250825", name: "code_execution" }, "tools.code_execution"],
    ["responses", { type: "web_search_preview" }, "tools.web_search_preview"],
    ["responses", { type: "file_search", vector_store_ids: [] }, "tools.file_search"],
    ["responses", { type: "code_interpreter", container: { type: "auto" } }, "tools.code_interpreter"],
    ["responses", { type: "mcp", server_url: "https://a.example" }, "tools.mcp"]
  ])("a tool that the provider runs is refused in %s, and left out beside others: %j", (dialect, tool, extra) => {
    assert.deepStrictEqual(toolsOf(dialect, { tools: [tool] }), ["INVALID_PARAMETER", "tools[0].type"])
    const declared = dialect === "messages" ? { name: "look" } : { type: "function", name: "look" }
    const both = { tools: [{ ...declared, function: { name: "look" } }, tool] }
    assert.deepStrictEqual(toolsOf(dialect, both), [extra])
    const type = extra.slice("tools.".length)
    const choice = dialect === "messages" ? { type: "tool", name: type } : { type }
    assert.deepStrictEqual(toolsOf(dialect, { ...both, tool_choice: choice }), ["INVALID_PARAMETER", "tools[1].type"])
    assert.deepStrictEqual(toolsOf(dialect, { tools: [tool] }, [extra]), [])
  })

  it.each<readonly [ApiDialect, JsonObject]>([
    ["chat", { type: "function", function: { name: "look" } }],
    ["chat", { type: "custom", custom: { name: "look" } }],
    ["messages", { name: "look", input_schema: { type: "object" } }],
    ["messages", { type: "custom", name: "look", input_schema: { type: "object" } }],
    ["messages", { type: "bash_20250124", name: "bash" }],
    ["messages", { type: "text_editor_20250728", name: "str_replace_based_edit_tool" }],
    ["responses", { type: "function", name: "look", parameters: {} }],
    ["responses", { type: "custom", name: "look" }],
    ["responses", { type: "namespace", name: "eyes", tools: [{ type: "function", name: "look" }] }],
    ["responses", { type: "local_shell" }],
    ["responses", { type: "shell", environment: { type: "local" } }],
    ["responses", { type: "apply_patch" }],
    ["responses", { type: "tool_search", execution: "client", parameters: {} }]
  ])("a tool that the caller runs passes in %s: %j", (dialect, tool) => {
    assert.deepStrictEqual(toolsOf(dialect, { tools: [tool] }), [])
  })

  it("is a tool that another machine than the caller's would run", () => {
    for (const tool of [{ type: "shell", environment: { type: "container_auto" } }, { type: "tool_search" }]) {
      assert.deepStrictEqual(toolsOf("responses", { tools: [tool] }), ["INVALID_PARAMETER", "tools[0].type"])
    }
  })

  it("has a known name in the configuration", () => {
    const model = (ExtraParameters: ReadonlyArray<string>) =>
      decodeConfiguration({
        ModelGateway: {
          Models: [{ Id: "a/b", Free: true, Upstreams: [{ Provider: "p", Model: "m" }], ExtraParameters }]
        }
      })
    assert.isTrue(Result.isSuccess(model(["service_tier", "tools.web_search"])))
    assert.isTrue(Result.isFailure(model(["servce_tier"])))
  })
})

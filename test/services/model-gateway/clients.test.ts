import { assert, describe, it } from "@effect/vitest"
import { clientOf } from "../../../services/model-gateway/clients.ts"

describe("a program that calls", () => {
  it.each([
    ["codex_exec/0.171.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.171.0)", "codex"],
    ["codex_cli_rs/0.171.0 (Mac OS 15.1.0; arm64)", "codex"],
    ["claude-cli/2.1.332 (external, sdk-cli)", "claude-code"],
    ["opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14", "opencode"],
    ["ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24", "vercel-ai"],
    ["Agents/JavaScript 0.20.0", "openai-agents"],
    ["langchainjs-openai/1.0.0 ((node/v24.21.0; linux; x64))", "langchain"],
    ["litellm/1.110.2", "litellm"],
    ["OpenAI/JS 7.59.0", "openai-js"],
    ["OpenAI/Python 3.57.0", "openai-python"],
    ["AsyncOpenAI/Python 3.57.0", "openai-python"],
    ["Anthropic/JS 0.122.0", "anthropic-js"],
    ["AsyncAnthropic/Python 2.14.0", "anthropic-python"],
    ["curl/8.5.0", "other"],
    ["a codex_exec/1", "other"],
    ["", "other"],
    [undefined, "other"]
  ] as const)("is known by what it calls itself first: %s", (userAgent, name) => {
    assert.strictEqual(clientOf(userAgent), name)
  })
})

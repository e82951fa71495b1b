import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { agentNames, agents, type AgentPlace } from "../../../../services/cli/agents/configuration.ts"

const payer: AgentPlace = { url: "http://127.0.0.1:7409", model: "demo/echo", isPayer: true }
const gateway: AgentPlace = { url: "https://models.example.com", model: "demo/free", isPayer: false }
const merged = (name: (typeof agentNames)[number], before: string, place = payer) =>
  Result.getOrThrow(agents[name].merged(before, place))

describe("an agent's file", () => {
  it.each(agentNames)("of %s has the entry once, however often it is written", (name) => {
    const once = merged(name, "")
    assert.strictEqual(merged(name, once), once)
    const moved = merged(name, once, { ...payer, url: "http://127.0.0.1:7500" })
    assert.include(moved, "http://127.0.0.1:7500")
    assert.notInclude(moved, "7409")
    assert.strictEqual(merged(name, moved), once)
  })

  it("of Codex keeps every other line, before its table and after it", () => {
    const before = `model = "gpt-5"\n\n[model_providers.other]\nname = "x"\n`
    const after = merged("codex", before)
    assert.strictEqual(after, `${before}\n${agents.codex.entry(payer)}\n`)
    const followed = `${after}\n[tui]\ntheme = "dark"\n`
    assert.strictEqual(
      merged("codex", followed, gateway),
      `${before}\n${agents.codex.entry(gateway)}\n\n[tui]\ntheme = "dark"\n`
    )
  })

  it("of Claude Code keeps its other settings and variables", () => {
    const before = JSON.stringify({ permissions: { allow: ["Read"] }, env: { OTHER: "1", ANTHROPIC_MODEL: "x" } })
    assert.deepStrictEqual(JSON.parse(merged("claude", before)), {
      permissions: { allow: ["Read"] },
      env: {
        OTHER: "1",
        ANTHROPIC_BASE_URL: "http://127.0.0.1:7409",
        ANTHROPIC_MODEL: "demo/echo",
        ANTHROPIC_DEFAULT_HAIKU_MODEL: "demo/echo"
      },
      apiKeyHelper: "printenv STARLING_PAYER_TOKEN"
    })
  })

  it("of Claude Code gives the payer's token to no gateway, and keeps a helper that is not ours", () => {
    const own = { permissions: { allow: ["Read"] } }
    const paying = merged("claude", JSON.stringify(own))
    const free = merged("claude", paying, gateway)
    assert.notInclude(free, "STARLING_PAYER_TOKEN")
    assert.deepStrictEqual(JSON.parse(merged("claude", free)), JSON.parse(paying))
    assert.include(merged("claude", JSON.stringify({ apiKeyHelper: "pass show key" }), gateway), "pass show key")
    const token = { env: { ANTHROPIC_AUTH_TOKEN: "a real one" } }
    assert.include(merged("claude", JSON.stringify(token)), "a real one")
  })

  it("of opencode keeps its other providers, and the models that it had", () => {
    const once = merged("opencode", JSON.stringify({ provider: { other: {} } }))
    const twice = JSON.parse(merged("opencode", once, { ...payer, model: "demo/two" })) as {
      readonly provider: Readonly<Record<string, { readonly models?: object }>>
    }
    assert.deepStrictEqual(Object.keys(twice.provider), ["other", "starling"])
    assert.deepStrictEqual(Object.keys(twice.provider["starling"]?.models ?? {}), ["demo/echo", "demo/two"])
  })

  it.each(["claude", "opencode"] as const)("of %s stays as it is when it is no JSON", (name) => {
    for (const before of ["{ // a comment\n}", "[]", "7"])
      assert.isTrue(Result.isFailure(agents[name].merged(before, payer)))
  })

  it("never holds a token", () => {
    for (const name of agentNames) assert.match(merged(name, ""), /STARLING_PAYER_TOKEN/u)
  })

  it.each(agentNames)("of %s needs no token where it calls a gateway itself", (name) => {
    assert.notInclude(`${merged(name, "", gateway)}${agents[name].start(gateway)}`, "STARLING_PAYER_TOKEN")
  })
})

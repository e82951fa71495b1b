/** A gateway that gives four kinds of models away: a lax one, one as strict as OpenAI, a reasoner, and one as strict as Claude. */
import type { Effect, Scope } from "effect"
import { type TestGateway, withGateway } from "../support/gateway.ts"

export const judgedModels = ["free/echo", "free/strict", "free/reasoner", "free/claude"] as const

const model = (Id: string, Provider: string, Model: string, more: object = {}) => ({
  Id,
  Free: true,
  ContextTokens: 1_000_000,
  Upstreams: [{ Provider, Model, ...more }]
})

export const withJudgedModels = <A, E>(test: (gateway: TestGateway) => Effect.Effect<A, E, Scope.Scope>) =>
  withGateway(test, {
    providers: (upstream) => {
      const at = { BaseUrl: `${upstream}/v1` }
      return [
        { Name: "lax", ...at },
        { Name: "strict", ...at, Parameters: "openai", Thoughts: "none" },
        { Name: "reasoner", ...at, Parameters: "common", Thoughts: "required" },
        { Name: "claude", ...at, Kind: "anthropic" }
      ]
    },
    models: () => [
      model("free/echo", "lax", "demo/echo"),
      model("free/strict", "strict", "demo/strict"),
      model("free/reasoner", "reasoner", "demo/reasoner", { MaxTokensParameter: "max_completion_tokens" }),
      model("free/claude", "claude", "demo/strict-claude")
    ]
  })

/** Faults of models' providers, and of their prices. */
import { type Fault, repeatedly } from "./fault.ts"
import { shopOf } from "./outside.ts"

export const keyIsRevoked: Fault = {
  condition: "GatewayProviderFailing",
  effects: ["StarlingServerErrors"],
  what: "a provider answers 401",
  begin: async ({ outside: { provider }, running }) => {
    provider.answer(401)
    const body = JSON.stringify({ model: "demo/free", messages: [{ role: "user", content: "one two" }] })
    const init = { method: "POST", headers: { "content-type": "application/json" }, body }
    const end = repeatedly(3_000, () => fetch(`${running.ready.gateway}/v1/chat/completions`, init))
    return async () => {
      await end()
      provider.answer("well")
    }
  }
}

const dear = { CostOutputMicroUsdPerMillionTokens: 100_000_000 }

export const modelIsTooCheap: Fault = {
  condition: "GatewayPriceBelowCost",
  what: "a provider takes more for a long answer than its model is sold for",
  wavers: "the shop restarts with other prices, and a restart shows more on a busy machine",
  begin: async ({ outside, pods: { shop, shopPort } }) => {
    await shop.restart({ configuration: shopOf(outside, { port: shopPort, model: dear }) })
    return () => shop.restart()
  }
}

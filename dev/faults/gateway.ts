/** Faults of models' providers. */
import type { Fault } from "./fault.ts"

export const keyIsRevoked: Fault = {
  condition: "GatewayProviderFailing",
  what: "a provider answers 401",
  begin: async ({ provider }) => {
    provider.answer(401)
    return async () => provider.answer("well")
  }
}

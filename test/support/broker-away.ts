/** Claims whose jobs for the settlers find a broker that restarts. */
import { Effect, Layer } from "effect"
import { BusUnavailable } from "#bus"
import { Claims } from "#payments"

/** Away for so many jobs; `stores`: it stores them meanwhile and confirms none. */
export const jobsAway = (times: number, stores: boolean) => {
  let requests = 0
  const layer = Layer.effect(
    Claims,
    Effect.map(Claims, (claims) => {
      const requestSettlement: Claims["Service"]["requestSettlement"] = (claim, replyTo) => {
        requests += 1
        if (requests > times) return claims.requestSettlement(claim, replyTo)
        const gone = Effect.fail(new BusUnavailable({ operation: "publish", detail: "the broker restarts" }))
        return stores ? Effect.andThen(claims.requestSettlement(claim, replyTo), gone) : gone
      }
      return Claims.of({ ...claims, requestSettlement })
    })
  )
  return { layer, requests: () => requests }
}

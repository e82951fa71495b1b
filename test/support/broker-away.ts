/** Claims whose jobs for the settlers meet a broker that restarts. */
import { Effect, Layer } from "effect"
import { BusUnavailable } from "#bus"
import { Claims } from "#x402"

/** Away for so many jobs; `stores`: it stores them meanwhile and confirms none. */
export const jobsAway = (times: number, stores: boolean) => {
  let asked = 0
  const layer = Layer.effect(
    Claims,
    Effect.map(Claims, (claims) => {
      const ask: Claims["Service"]["ask"] = (claim, replyTo) => {
        asked += 1
        if (asked > times) return claims.ask(claim, replyTo)
        const gone = Effect.fail(new BusUnavailable({ operation: "publish", detail: "the broker restarts" }))
        return stores ? Effect.andThen(claims.ask(claim, replyTo), gone) : gone
      }
      return Claims.of({ ...claims, ask })
    })
  )
  return { layer, asked: () => asked }
}

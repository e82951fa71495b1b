/** Payments of trials: signed here, sent by the page, so that a call that is tried again is not paid again. */
import { Effect } from "effect"
import { TrialsGroup } from "#contracts/console"
import { jsonAnswer, routesOf } from "#http"
import { usdText } from "#x402"
import { AuditLog } from "../AuditLog.ts"
import { Trials } from "../page/Trials.ts"
import { apiOptions } from "./requests.ts"

export const trialRoutes = routesOf(
  TrialsGroup,
  {
    signTrialPayment: ({ body }) =>
      Effect.gen(function* () {
        const trials = yield* Trials
        const quote = yield* trials.read((yield* body).quote)
        const { network } = quote.requirements
        const reason = `${usdText(quote.microUsd)} USD of a local chain`
        yield* (yield* AuditLog).write({ action: "trial-pay", target: network, reason })
        const payment = yield* trials.sign(quote)
        return jsonAnswer({ payment: Buffer.from(JSON.stringify(payment)).toString("base64") })
      })
  },
  apiOptions
)

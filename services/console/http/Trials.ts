/** Signs quotes for trials with the payers of the local chains; where there are none, nothing is signed. */
import { Context, Effect, Layer, Result } from "effect"
import { chainFamilyOf, type PaymentPayload } from "#contracts"
import { conflict, jsonAnswer, routesOf, serviceUnavailable, validationFailed, type WireError } from "#http"
import { type CannotPay, openWallet, type PayQuote, readQuote, TrialPayers, usdText } from "#x402"
import { TrialsGroup } from "#contracts/console"
import { AuditLog } from "../AuditLog.ts"
import { apiOptions } from "./requests.ts"

// The dearest call of a trial; a page that asks for more has a fault.
const microUsdMax = 1_000_000n
const families = ["evm", "solana"] as const

export class Trials extends Context.Service<
  Trials,
  {
    readonly isPayer: boolean
    /** The quote that a header holds, where this fleet would pay it. */
    readonly read: (header: string) => Effect.Effect<PayQuote, WireError>
    readonly sign: (quote: PayQuote) => Effect.Effect<PaymentPayload, WireError>
  }
>()("starling/console/Trials") {
  static readonly layer = Layer.effect(
    Trials,
    Effect.gen(function* () {
      const payers = yield* TrialPayers
      const isPayer = families.some((family) => payers[family] !== undefined)

      const read = Effect.fnUntraced(function* (header: string) {
        if (!isPayer) return yield* conflict("this fleet pays for no trials: ./starling up alone has a worthless key")
        const found = families.map((chain) => readQuote(header, { chain, microUsdMax, limitName: "a trial" }))
        const [quote] = found.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
        if (quote !== undefined) return quote
        const reasons = found.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []))
        return yield* validationFailed({ quote: [...new Set(reasons)].join("; ") })
      })

      const sign = Effect.fn("Trials.sign")(function* (quote: PayQuote) {
        const chain = chainFamilyOf(quote.requirements.network) === "solana" ? "solana" : "evm"
        const payer = payers[chain]
        if (payer === undefined) return yield* conflict(`no payer of the chain ${chain} is here`)
        const signed = Effect.flatMap(openWallet(chain, payer), (wallet) => wallet.sign(quote))
        return yield* Effect.mapError(signed, refusalOf)
      })
      return Trials.of({ isPayer, read, sign })
    })
  )
}

const refusalOf = ({ what, reason }: CannotPay) =>
  what === "quote" ? validationFailed({ quote: reason }) : serviceUnavailable(1, reason)

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

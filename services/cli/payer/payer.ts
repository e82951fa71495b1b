/**
 * `payer`: a proxy on this machine by which a program without x402 support buys from the gateway. It signs within its
 * user's limits, for callers that have its token, and reports its spending.
 */
import { randomBytes } from "node:crypto"
import { Effect, References } from "effect"
import { HttpListener } from "#http"
import { openWallet, usdText } from "#payments"
import { CommandRefused, misused, print } from "../console.ts"
import { openLedger } from "./Ledger.ts"
import { type PayerGiven, type PayerOrder, readPayerOrder } from "./order.ts"
import { payerListener } from "./serve.ts"

const tokenBytes = 24

export const payer = Effect.fnUntraced(function* (given: PayerGiven) {
  const order = yield* readPayerOrder(given)
  const wallet = yield* Effect.mapError(openWallet("evm", order.key), ({ reason }) => misused(reason))
  const token = randomBytes(tokenBytes).toString("base64url")
  const ledger = yield* openLedger(order.perHour, print)
  const listening = payerListener({ ...order, token, wallet, ledger })
  const running = Effect.gen(function* () {
    const { url } = yield* HttpListener
    for (const line of beginning(order, { url, token, address: wallet.address })) yield* print(line)
    return yield* Effect.never
  })
  return yield* running.pipe(
    Effect.provide(listening),
    Effect.catchTag(
      "CannotListen",
      ({ message }) => new CommandRefused({ reason: `${message}; --port names another` })
    ),
    // Each call has its line; the listener's own would be a second one.
    Effect.provideService(References.MinimumLogLevel, "Warn"),
    Effect.ensuring(ledger.totals)
  )
})

interface Begun {
  readonly url: string
  readonly token: string
  readonly address: string
}

const beginning = ({ gatewayUrl, perCall, perHour, terms }: PayerOrder, { url, token, address }: Begun) => [
  `payer:    ${url} → ${gatewayUrl}`,
  `token:    ${token}`,
  `wallet:   ${address}, ${terms.schemes.join(" or ")}, ${terms.isMainnet ? "also with real money" : "on test networks"}`,
  `limits:   ${usdText(perCall)} USD a call, ${usdText(perHour)} USD an hour; Ctrl-C ends it`
]

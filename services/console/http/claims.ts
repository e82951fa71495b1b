/** Claims over HTTP. Whom a payment pays and for what is shown; its signature is not. */
import { Effect, Option, Schema } from "effect"
import { ClaimKey, isoTime, type PaymentNetwork } from "#contracts"
import { ClaimsGroup, type ClaimSummary } from "#contracts/console"
import { HttpCall, jsonAnswer, notFound, routesOf } from "#http"
import { Configuration } from "#runtime"
import { ClaimReader, type SeenClaim } from "#x402"
import { newestReceipts, receiptView, tokenOf } from "../money/receipts.ts"
import { apiOptions, cursorText, placeOf, refusing } from "./requests.ts"

type Networks = ReadonlyArray<PaymentNetwork>

export const claimView = (networks: Networks, { key, record }: SeenClaim): ClaimSummary => ({
  key,
  state: record.state,
  network: record.network,
  asset: record.asset,
  ...tokenOf(networks, record),
  amount: record.amount,
  payer: record.payer,
  payTo: record.payTo,
  model: record.model ?? null,
  kind: record.kind,
  holder: record.holder,
  claimedAt: isoTime(record.claimedAtMs),
  requestedAt: record.requestedAtMs === null ? null : isoTime(record.requestedAtMs),
  asked: record.asked,
  validBefore: isoTime(record.validBeforeMs),
  transactions: record.transactions,
  reason: record.reason
})

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)
const isKey = Schema.is(ClaimKey)
// A payer's receipts are on one subject: a few questions to the broker.
const receiptsReadMax = 1_024

export const claimRoutes = routesOf(
  ClaimsGroup,
  {
    listClaims: ({ query }) =>
      Effect.gen(function* () {
        const { state, network, payer, ...asked } = yield* query
        const { before, limit } = yield* placeOf(asked)
        const from = asked.cursor === undefined ? undefined : before
        const found = yield* refusing((yield* ClaimReader).list({ state, network, payer }, { from, limit }))
        const networks = yield* networksOf
        return jsonAnswer({
          items: found.claims.map((claim) => claimView(networks, claim)),
          nextCursor: found.next === undefined ? null : cursorText(String(found.next))
        })
      }),

    getClaim: () =>
      Effect.gen(function* () {
        const { key = "" } = (yield* HttpCall).params
        const claims = yield* ClaimReader
        const claim = isKey(key) ? yield* refusing(claims.read(key)) : Option.none<SeenClaim>()
        if (Option.isNone(claim)) return yield* notFound("no such claim, or none any more")
        const { record } = claim.value
        const payer = Option.getOrUndefined(yield* refusing(claims.payer(record)))
        const newest = { before: Number.MAX_SAFE_INTEGER, limit: receiptsReadMax, readMax: receiptsReadMax }
        const { network, payer: account } = record
        const { found } = yield* refusing(newestReceipts({ ...newest, network, payer: account }))
        const networks = yield* networksOf
        const denied = payer?.denied ?? null
        return jsonAnswer({
          ...claimView(networks, claim.value),
          receipts: found
            .filter(({ receipt }) => receipt.claimKey === key)
            .map((stored) => receiptView(networks, stored)),
          payerPlaces: payer?.places.length ?? 0,
          payerDenied:
            denied === null
              ? null
              : { claimKey: denied.claimKey, reason: denied.reason, since: isoTime(denied.sinceMs) }
        })
      })
  },
  apiOptions
)

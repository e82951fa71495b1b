/**
 * A scheme whose chain is asked and whose transactions are sent by a facilitator. Local checks stay local, for
 * the claim is made of them, and so does the look at the chain: what became of a payment is believed of the
 * chain alone.
 */
import { Effect } from "effect"
import type { PaymentScheme } from "../scheme.ts"
import type { Facilitator } from "./Facilitator.ts"

/** Who signs is not known before the facilitator answers. */
export const remoteScheme = (local: PaymentScheme, facilitator: Facilitator): PaymentScheme => ({
  network: local.network,
  readKey: (secret) => local.readKey(secret),
  check: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  simulate: ({ payload, requirements }) => Effect.asVoid(facilitator.verify(payload, requirements)),
  accountNonce: () => Effect.succeed(null),
  prepare: () => Effect.succeed({ transaction: null, raw: new Uint8Array(0), settler: "facilitator", nonce: null }),
  broadcast: (_prepared, { payload, requirements, payer }) =>
    Effect.map(facilitator.settle(payload, requirements), (settlement) => ({ ...settlement, payer })),
  look: (checked, transaction) => local.look(checked, transaction),
  transfers: (from) => local.transfers(from)
})

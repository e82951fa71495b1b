/**
 * Checkpoints: how far the reconciliation of a network has come, on the chain and in RECEIPTS. Kept beside the claims.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import { payerKeyOf, type PaymentNetwork } from "#contracts"

const Checkpoint = Schema.Struct({
  position: Schema.NullOr(Schema.String),
  /** The sequence of the first receipt that is still open. */
  receiptsFrom: Schema.Int
})
export interface Checkpoint extends Schema.Schema.Type<typeof Checkpoint> {}

export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint
  readonly revision: number
}

type Account = Pick<PaymentNetwork, "Network" | "PayTo">

export class Checkpoints extends Context.Service<
  Checkpoints,
  {
    readonly read: (account: Account) => Effect.Effect<StoredCheckpoint, BusError>
    /** Writes over the revision that was read: of two reconcilers one goes on. */
    readonly write: (
      account: Account,
      checkpoint: Checkpoint,
      revision: number
    ) => Effect.Effect<StoredCheckpoint, BusError>
  }
>()("starling/payment-settler/Checkpoints") {
  static readonly layer = Layer.effect(
    Checkpoints,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("authorizations", Checkpoint)
      return Checkpoints.of({
        read: (account) =>
          Effect.map(
            bucket.get(keyOf(account)),
            Option.match({
              onNone: () => ({ checkpoint: { position: null, receiptsFrom: 1 }, revision: 0 }),
              onSome: ({ value, revision }) => ({ checkpoint: value, revision })
            })
          ),
        write: (account, checkpoint, before) =>
          Effect.map(bucket.update(keyOf(account), checkpoint, before), (revision) => ({ checkpoint, revision }))
      })
    })
  )
}

/** Another account has a checkpoint of its own. */
const keyOf = ({ Network, PayTo }: Account) => payerKeyOf(Network, PayTo).replace(/^payer\./u, "books.")

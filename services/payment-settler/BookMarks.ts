/** How far the books of a network are done with: on the chain, and in RECEIPTS. Kept beside the claims. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import { type PaymentNetwork, payerKeyOf } from "#contracts"

export const BookMark = Schema.Struct({
  position: Schema.NullOr(Schema.String),
  /** The sequence of the first receipt that is not done with. */
  receiptsFrom: Schema.Int
})
export interface BookMark extends Schema.Schema.Type<typeof BookMark> {}

export interface StoredMark {
  readonly mark: BookMark
  readonly revision: number
}

type Account = Pick<PaymentNetwork, "Network" | "PayTo">

export class BookMarks extends Context.Service<
  BookMarks,
  {
    readonly read: (account: Account) => Effect.Effect<StoredMark, BusError>
    /** Of the revision that was read: of two bookkeepers one goes on. */
    readonly write: (account: Account, mark: BookMark, revision: number) => Effect.Effect<StoredMark, BusError>
  }
>()("starling/payment-settler/BookMarks") {
  static readonly layer = Layer.effect(
    BookMarks,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("authorizations", BookMark)
      return BookMarks.of({
        read: (account) =>
          Effect.map(
            bucket.get(keyOf(account)),
            Option.match({
              onNone: () => ({ mark: { position: null, receiptsFrom: 1 }, revision: 0 }),
              onSome: ({ value, revision }) => ({ mark: value, revision })
            })
          ),
        write: (account, mark, before) =>
          Effect.map(bucket.update(keyOf(account), mark, before), (revision) => ({ mark, revision }))
      })
    })
  )
}

/** Another account has books of its own. */
const keyOf = ({ Network, PayTo }: Account) => payerKeyOf(Network, PayTo).replace(/^payer\./u, "books.")

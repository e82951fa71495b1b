/** The calls that their callers named, by payer and `payment-identifier`. */
import { hash } from "node:crypto"
import { Context, Effect, Layer, Schema } from "effect"
import { type BusError, kept, Kv, records, replaced } from "#bus"
import type { PayerName } from "#payments"

const NamedCall = Schema.Struct({ claimKey: Schema.String, binding: Schema.String })

/** Clients' own names for their calls (`payment-identifier`): each names one payment of one payer, for a day. */
export class CallNames extends Context.Service<
  CallNames,
  {
    /** False if the name belongs to another payment or another request. */
    readonly take: (
      payer: PayerName,
      identifier: string,
      call: typeof NamedCall.Type
    ) => Effect.Effect<boolean, BusError>
  }
>()("starling/model-gateway/CallNames") {
  static readonly layer = Layer.effect(
    CallNames,
    Effect.gen(function* () {
      const calls = records(yield* (yield* Kv).open("idempotency", NamedCall))
      const take = Effect.fn("CallNames.take")(function* (
        { network, payer }: PayerName,
        identifier: string,
        call: typeof NamedCall.Type
      ) {
        const digest = hash("sha256", JSON.stringify([network, payer, identifier]), "hex")
        const key = `payment-identifier.${digest}`
        const { value: first } = yield* calls.change(key, (before) =>
          before === undefined ? replaced(call) : kept(before)
        )
        return first?.claimKey === call.claimKey && first.binding === call.binding
      })
      return CallNames.of({ take })
    })
  )
}

/** Clients' own names for their calls (`payment-identifier`): each stands for one payment of one payer, for a day. */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import type { PayerName } from "#x402"

const Named = Schema.Struct({ claimKey: Schema.String, binding: Schema.String })

export class CallNames extends Context.Service<
  CallNames,
  {
    /** False when the name stands for another payment or another request. */
    readonly take: (payer: PayerName, identifier: string, call: typeof Named.Type) => Effect.Effect<boolean, BusError>
  }
>()("starling/model-gateway/CallNames") {
  static readonly layer = Layer.effect(
    CallNames,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("idempotency", Named)
      const take = Effect.fn("CallNames.take")(function* (
        { network, payer }: PayerName,
        identifier: string,
        call: typeof Named.Type
      ) {
        const digest = createHash("sha256")
          .update(JSON.stringify([network, payer, identifier]))
          .digest("hex")
        const key = `payment-identifier.${digest}`
        const isNew = yield* bucket.create(key, call).pipe(
          Effect.as(true),
          Effect.catchTag("RevisionConflict", () => Effect.succeed(false))
        )
        if (isNew) return true
        const found = Option.getOrUndefined(yield* bucket.get(key))?.value
        return found?.claimKey === call.claimKey && found.binding === call.binding
      })
      return CallNames.of({ take })
    })
  )
}

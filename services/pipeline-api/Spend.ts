/** What projects spent in the last thirty days, as the sweeper has added it up. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { type BusError, Kv } from "#bus"
import { SpendEntry, spendKey, spentMicroUsd } from "#contracts"

export class Spend extends Context.Service<
  Spend,
  {
    /** In micro-USD; nothing for a project that none was added up for. */
    readonly of: (projectId: string) => Effect.Effect<number | null, BusError>
  }
>()("starling/pipeline-api/Spend") {
  static readonly layer = Layer.effect(
    Spend,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("spend", SpendEntry)
      const of = Effect.fn("Spend.of")(function* (projectId: string) {
        const held = yield* bucket.get(spendKey(projectId))
        if (Option.isNone(held) || held.value.value._tag !== "ProjectSpend") return null
        return spentMicroUsd(held.value.value.hours, yield* Clock.currentTimeMillis)
      })
      return Spend.of({ of })
    })
  )
}

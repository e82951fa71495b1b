/** One record that nothing can read, in each bucket, and what reads a bucket as a whole. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { Publisher, topology } from "#bus"
import { Tokens, TokenUses } from "#http"
import { Consents } from "#speech-api/consents"
import { EndpointStates } from "#webhooks"
import { ClaimReader } from "#payments"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"

const readers = {
  "the list of tokens": Effect.flatMap(Tokens, ({ list }) => list),
  "the uses of tokens": Effect.map(
    Effect.flatMap(TokenUses, ({ all }) => all),
    (all) => [...all]
  ),
  "the states of endpoints": Effect.map(EndpointStates, ({ get }) => ["zz"].flatMap((id) => get(id) ?? [])),
  "the consents to voices": Effect.flatMap(Consents, ({ list }) => Stream.runCollect(list())),
  "the claims of payments": Effect.flatMap(ClaimReader, ({ list }) =>
    Effect.map(list({ state: "SETTLED" }, { from: 1, limit: 10 }), ({ claims }) => claims)
  )
}

const stores = Layer.mergeAll(Tokens.layer, TokenUses.layer, EndpointStates.layer, Consents.layer, ClaimReader.layer)

describe("one broken record in a bucket", () => {
  it.live(`takes none of these away: ${Object.keys(readers).join(", ")}`, () =>
    Effect.gen(function* () {
      const bus = busOn(yield* natsServer)
      const read = Effect.gen(function* () {
        const { publishRaw } = yield* Publisher
        const broken = new TextEncoder().encode('{"a":1}')
        for (const { name } of topology.buckets) yield* publishRaw(`$KV.${name}.zz`, broken)
        return yield* Effect.all(readers).pipe(Effect.provide(Layer.fresh(stores)))
      })
      const found = yield* Effect.provide(read, bus)
      for (const [name, items] of Object.entries(found)) assert.lengthOf(items, 0, name)
    }).pipe(Effect.scoped)
  )
})

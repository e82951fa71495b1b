/**
 * Where sweeps that go over days stand, in KV `sweeps`. A mark is changed on the condition that it is the one that was
 * read: a process that lost its lease and does not know yet cannot set another one's back.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import { Count, EpochMs, Uuid } from "#contracts"

/** Far as any one restore goes; a value of the bucket holds so many ids. */
export const restoreItemsMax = 10_000

export const Mark = Schema.TaggedUnion({
  /** Retired entities up to there are purged. */
  Purge: { position: Count },
  /** LOG up to `position` was compared with EVENTS, which was read up to `eventsPosition`. */
  Reconciliation: { position: Count, eventsPosition: Count },
  /** The items that an agent's return is to queue again. */
  Restore: { restoredAtMs: EpochMs, workItemIds: Schema.Array(Uuid).check(Schema.isMaxLength(restoreItemsMax)) }
})
export type Mark = typeof Mark.Type

export interface HeldMark {
  readonly mark: Option.Option<Mark>
  readonly revision: number
}

export class Marks extends Context.Service<
  Marks,
  {
    readonly read: (key: string) => Effect.Effect<HeldMark, BusError>
    /** Fails with `RevisionConflict` when somebody else has set it since. */
    readonly set: (key: string, held: HeldMark, mark: Mark) => Effect.Effect<HeldMark, BusError>
  }
>()("starling/sweeper/Marks") {
  static readonly layer = Layer.effect(
    Marks,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("sweeps", Mark)
      return Marks.of({
        read: (key) =>
          Effect.map(
            bucket.get(key),
            Option.match({
              onNone: () => ({ mark: Option.none<Mark>(), revision: 0 }),
              onSome: ({ value, revision }) => ({ mark: Option.some(value), revision })
            })
          ),
        set: (key, { revision }, mark) =>
          Effect.map(
            revision === 0 ? bucket.create(key, mark) : bucket.update(key, mark, revision),
            (next): HeldMark => ({ mark: Option.some(mark), revision: next })
          )
      })
    })
  )
}

/**
 * Checkpoints hold the progress of sweeps that span days, in KV `sweeps`. A checkpoint changes only on the condition
 * that it is the one that was read: a process that lost its lease and does not know yet cannot reset another's.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import { Count, EpochMs, Uuid } from "#contracts"

/** The most items of one restore; a value of the bucket holds so many ids. */
export const restoreItemsMax = 10_000

export const Checkpoint = Schema.TaggedUnion({
  /** Retired entities up to this position are purged. */
  Purge: { position: Count },
  /** LOG up to `position` was compared with EVENTS, which was read up to `eventsPosition`. */
  Reconciliation: { position: Count, eventsPosition: Count },
  /** The items to queue again after an agent's return. */
  Restore: { restoredAtMs: EpochMs, workItemIds: Schema.Array(Uuid).check(Schema.isMaxLength(restoreItemsMax)) }
})
export type Checkpoint = typeof Checkpoint.Type

export interface HeldCheckpoint {
  readonly checkpoint: Option.Option<Checkpoint>
  readonly revision: number
}

export class Checkpoints extends Context.Service<
  Checkpoints,
  {
    readonly read: (key: string) => Effect.Effect<HeldCheckpoint, BusError>
    /** Fails with `RevisionConflict` when another process has set it since. */
    readonly set: (key: string, held: HeldCheckpoint, checkpoint: Checkpoint) => Effect.Effect<HeldCheckpoint, BusError>
  }
>()("starling/sweeper/Checkpoints") {
  static readonly layer = Layer.effect(
    Checkpoints,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("sweeps", Checkpoint)
      return Checkpoints.of({
        read: (key) =>
          Effect.map(
            bucket.get(key),
            Option.match({
              onNone: () => ({ checkpoint: Option.none<Checkpoint>(), revision: 0 }),
              onSome: ({ value, revision }) => ({ checkpoint: Option.some(value), revision })
            })
          ),
        set: (key, { revision }, checkpoint) =>
          Effect.map(
            revision === 0 ? bucket.create(key, checkpoint) : bucket.update(key, checkpoint, revision),
            (next): HeldCheckpoint => ({ checkpoint: Option.some(checkpoint), revision: next })
          )
      })
    })
  )
}

/**
 * Payers' standings in the bucket. A change is decided anew on what was read last until it is written first;
 * a record that says nothing any more goes by itself.
 */
import { Effect, Option } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, type KvEntry } from "#bus"
import { payerKeyOf } from "#contracts"
import { PayerRecord } from "./claim-record.ts"
import { claimBucket } from "./ClaimStore.ts"
import { newPayer, saysSomething } from "./payer-policy.ts"

export interface PayerName {
  readonly network: string
  readonly payer: string
}

export type PayerEntry = Option.Option<KvEntry<PayerRecord>>

export interface PayerBook {
  readonly read: (name: PayerName) => Effect.Effect<PayerEntry, BusError>
  /** Writes what `change` makes of the record, or nothing where that is undefined. `seen`: what was read before. */
  readonly change: (
    name: PayerName,
    change: (record: PayerRecord) => PayerRecord | undefined,
    seen?: PayerEntry
  ) => Effect.Effect<void, BusError>
}

// Each try that fails is another's that succeeded; more payers than this do not share one wallet.
const triesMax = 64
const goneAfterMs = 60_000

export const recordOf = (name: PayerName, entry: PayerEntry): PayerRecord =>
  Option.isSome(entry) ? entry.value.value : newPayer(name.network, name.payer)

export const openPayerBook = Effect.fnUntraced(function* (): Effect.fn.Return<PayerBook, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, PayerRecord)
  const read = ({ network, payer }: PayerName) => bucket.get(payerKeyOf(network, payer))
  return { read, change: (name, change, seen) => changeIn(bucket, read, name, change, seen) }
})

const changeIn = Effect.fnUntraced(function* (
  bucket: KvBucket<PayerRecord>,
  read: PayerBook["read"],
  name: PayerName,
  change: (record: PayerRecord) => PayerRecord | undefined,
  seen: PayerEntry | undefined
): Effect.fn.Return<void, BusError> {
  let entry = seen ?? (yield* read(name))
  for (let tries = 0; tries < triesMax; tries += 1) {
    const next = change(recordOf(name, entry))
    if (next === undefined) return
    const revision = Option.isSome(entry) ? entry.value.revision : 0
    const write = bucket.update(
      payerKeyOf(name.network, name.payer),
      next,
      revision,
      saysSomething(next) ? undefined : goneAfterMs
    )
    const isWritten = yield* write.pipe(
      Effect.as(true),
      Effect.catchTag("RevisionConflict", () => Effect.succeed(false))
    )
    if (isWritten) return
    entry = yield* read(name)
  }
  const detail = `somebody else was first ${triesMax} times`
  return yield* new BusUnavailable({ operation: `change payer ${name.payer}`, detail })
})

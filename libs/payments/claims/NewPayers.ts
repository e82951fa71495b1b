/**
 * What all payers together may have unpaid beyond what each has paid before. No call writes it: the sweep sums it up
 * from the payers' records and stores the sum with its checkpoint, and a process adds what it has granted since. Only a
 * lost call is recorded, in a record of its own.
 */
import { Duration, Effect, Option, Schema } from "effect"
import { type BusError, Kv, records, replaced } from "#bus"
import { claimBucket } from "./ClaimStore.ts"
import { type CreditTerms, hasRoom, Owed, owedMore } from "./credit.ts"

export const checkpointKey = "sweep"

/**
 * `from`: the sequence of the oldest record that a sweeper must read. `unpaid`: what new payers had unpaid, in
 * millionths of a dollar, by all records up to `asOf`. Absent if a sweeper of an earlier release wrote it.
 */
export const Checkpoint = Schema.Struct({
  holder: Schema.String,
  from: Schema.Int,
  newcomers: Schema.optionalKey(Schema.Struct({ unpaid: Schema.Int, asOf: Schema.Int }))
})

export interface NewPayers {
  /** Reads the state of all processes, unless that was done a moment ago. */
  readonly look: Effect.Effect<void, BusError>
  /** Whether a call may take this much of the bound. It holds it from then on, until it is returned or summed up. */
  readonly take: (ticket: string, beyond: number, nowMs: number) => boolean
  /** The call is in its payer's record since a revision. */
  readonly isWritten: (ticket: string, revision: number) => void
  readonly giveBack: (ticket: string) => void
  /** Records that this much was lost. */
  readonly lost: (microUsd: number) => Effect.Effect<void, BusError>
}

const owedKey = "newcomers"
// A sweep runs every two seconds.
const lookEvery = Duration.seconds(1)
// The money bound applies first, unless calls cost next to nothing.
const givenMax = 4_096

interface Grant {
  readonly beyond: number
  readonly revision: number
}

export const openNewPayers = Effect.fnUntraced(function* (
  terms: CreditTerms
): Effect.fn.Return<NewPayers, BusError, Kv> {
  const kv = yield* Kv
  const checkpoints = yield* kv.open(claimBucket, Checkpoint)
  const losses = yield* kv.open(claimBucket, Owed)
  const given = new Map<string, Grant>()
  const known = { unpaid: 0, asOf: 0, owed: { microUsd: 0, atMs: 0 } }

  const read = Effect.gen(function* () {
    const both = [checkpoints.get(checkpointKey), losses.get(owedKey)] as const
    const [checkpoint, owed] = yield* Effect.all(both, { concurrency: 2 })
    if (Option.isSome(owed)) known.owed = owed.value.value
    if (Option.isNone(checkpoint)) return
    const { revision, value } = checkpoint.value
    const { unpaid, asOf } = value.newcomers ?? { unpaid: 0, asOf: revision }
    // A sweeper that has just started has not read everything yet.
    if (asOf < known.asOf) return
    known.unpaid = unpaid
    known.asOf = asOf
    for (const [ticket, one] of given) if (one.revision <= asOf) given.delete(ticket)
  })

  const take = (ticket: string, beyond: number, nowMs: number): boolean => {
    given.delete(ticket)
    if (given.size >= givenMax) return false
    const sum = [...given.values()].reduce((all, one) => all + one.beyond, 0)
    if (!hasRoom({ ...known, given: sum }, beyond, terms, nowMs)) return false
    given.set(ticket, { beyond, revision: Number.POSITIVE_INFINITY })
    return true
  }

  const lost = Effect.fnUntraced(function* (microUsd: number): Effect.fn.Return<void, BusError> {
    yield* records(losses).change(owedKey, (before = { microUsd: 0, atMs: 0 }, { nowMs }) =>
      replaced(owedMore(before, microUsd, nowMs))
    )
  })

  return {
    // Not interruptible: other calls wait for the same answer.
    look: yield* Effect.cachedWithTTL(Effect.uninterruptible(read), lookEvery),
    take,
    isWritten: (ticket, revision) => {
      const one = given.get(ticket)
      if (one !== undefined) given.set(ticket, { ...one, revision })
    },
    giveBack: (ticket) => void given.delete(ticket),
    lost
  }
})

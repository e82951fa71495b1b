/**
 * The receipts of charges by channel. A settler writes them after the answer. The channel's record owes each charge
 * until the channel's next call reports that its receipt is written.
 */
import { Effect, Latch } from "effect"
import { setNewest } from "#base"
import { type Channel, channelKeyOf, type ChannelName, owedOf } from "#payments"
import type { ChannelOrders } from "./orders.ts"
import { targetOf, type Voucher } from "./voucher.ts"

/** A busy channel requests the receipts of several calls at once: each order reads its record. */
const receiptsWithinMs = 500
// A record that owes more is longer than what it saves.
const receiptsAtOnce = 4

// The settlers record by themselves what is forgotten here.
const channelsMax = 16_384

export interface ChannelReceipts {
  /** The tickets of written receipts not yet reported to the channel's record. */
  readonly written: (name: ChannelName) => ReadonlyArray<string>
  /** The receipts of everything that the record owed are written. */
  readonly add: (name: ChannelName, channel: Channel | null) => void
  readonly reported: (name: ChannelName, tickets: ReadonlyArray<string>) => void
  /** Has them written after the answer. Without a settler's confirmation the record still owes them. */
  readonly ask: (voucher: Voucher, channel: Channel) => Effect.Effect<void>
}

export const channelReceipts = Effect.fnUntraced(function* (orders: ChannelOrders) {
  const scope = yield* Effect.scope
  const known = new Map<string, ReadonlyArray<string>>()
  const written = (name: ChannelName) => known.get(channelKeyOf(name)) ?? []
  const set = (name: ChannelName, tickets: ReadonlyArray<string>) => {
    const key = channelKeyOf(name)
    if (tickets.length > 0) setNewest(known, key, tickets, channelsMax)
    else known.delete(key)
  }
  const add = (name: ChannelName, channel: Channel | null) => {
    const owed = channel === null ? [] : owedOf(channel)
    set(name, [...new Set([...written(name), ...owed.map(({ ticket }) => ticket)])])
  }
  const reported = (name: ChannelName, tickets: ReadonlyArray<string>) =>
    set(
      name,
      written(name).filter((ticket) => !tickets.includes(ticket))
    )

  /** The channels whose receipts are about to be requested, as last charged. */
  const waiting = new Map<string, { channel: Channel; readonly isEnough: Latch.Latch }>()
  const ask = (voucher: Voucher, channel: Channel): Effect.Effect<void> => {
    const key = channelKeyOf(voucher.name)
    const present = waiting.get(key)
    const due = present ?? { channel, isEnough: Latch.makeUnsafe() }
    due.channel = channel
    if (owedOf(channel).length >= receiptsAtOnce) due.isEnough.openUnsafe()
    if (present !== undefined) return Effect.void
    waiting.set(key, due)
    const asked = Effect.suspend(() => {
      waiting.delete(key)
      const owing = due.channel
      return Effect.map(orders.ask({ _tag: "Receipt", ...targetOf(voucher) }), ({ _tag }) =>
        _tag === "Done" ? add(voucher.name, owing) : undefined
      )
    })
    return Effect.timeoutOption(due.isEnough.await, receiptsWithinMs).pipe(
      Effect.andThen(asked),
      Effect.catch((error) => Effect.logWarning("the receipts of a channel are written later", error)),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  }
  return { written, add, reported, ask } satisfies ChannelReceipts
})

/** Up to when each chain was watched, as reported by the settlers: until then a channel's record shows its balance. */
import { Effect, Option, Stream } from "effect"
import { Kv } from "#bus"
import { ChannelWatch, type Payments } from "#payments/contract"
import { supervise } from "#runtime"

/** Whether the settlers have recently watched a network's chain. */
export type IsWatched = (network: string, nowMs: number) => boolean

export const channelWatches = Effect.fnUntraced(function* ({ Channels, ChannelMirrorSeconds }: Payments) {
  const watchedAtMs = new Map<string, number>()
  if (Channels.length > 0) {
    const bucket = yield* (yield* Kv).open("channel-watches", ChannelWatch)
    const following = Stream.runForEach(bucket.changes, ({ key, entry }) =>
      Effect.sync(() => {
        if (Option.isSome(entry)) watchedAtMs.set(key.replace(".", ":"), entry.value.value.atMs)
      })
    )
    yield* Effect.forkScoped(supervise("watches of channels", Effect.forever(following)))
  }
  const isWatched: IsWatched = (network, nowMs) => {
    const atMs = watchedAtMs.get(network)
    return atMs !== undefined && nowMs - atMs <= ChannelMirrorSeconds * 1_000
  }
  return isWatched
})

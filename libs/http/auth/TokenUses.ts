/**
 * When each token was last used, to within an hour. A request pays for one table look-up; a background fiber writes,
 * once an hour per token across all replicas. The bucket is separate from the tokens', so that a role that records uses
 * cannot create tokens.
 */
import { Clock, Context, Effect, Layer, Queue, Schema } from "effect"
import { type BusError, kept, Kv, records, replaced } from "#bus"
import { isoTime, Timestamp } from "#base"
import { supervise } from "#runtime"

const TokenUse = Schema.Struct({ at: Timestamp })

const grainMs = 3_600_000
// After a failed attempt, requests do not ask the broker again within this time.
const againMs = 60_000
// How many tokens are remembered here; for a forgotten one the store knows when it was last written.
const notedMax = 4_096
// Each is one small write; a first use beyond this many is recorded with the token's next use.
const waitingMax = 1_024

export class TokenUses extends Context.Service<
  TokenUses,
  {
    /** Never waits and never fails. */
    readonly note: (id: string) => Effect.Effect<void>
    /** The times of last use, by token id. */
    readonly all: Effect.Effect<ReadonlyMap<string, string>, BusError>
  }
>()("starling/http/TokenUses") {
  static readonly layer = Layer.effect(
    TokenUses,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("token-uses", TokenUse)
      const waiting = yield* Queue.dropping<string>(waitingMax)
      const notBeforeMs = new Map<string, number>()

      const note = (id: string) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          if ((notBeforeMs.get(id) ?? 0) > nowMs || !Queue.offerUnsafe(waiting, id)) return
          makeRoom(notBeforeMs)
          notBeforeMs.set(id, nowMs + grainMs)
        })

      const uses = records(bucket)
      const write = (id: string) =>
        uses.change(id, (before, { nowMs }) =>
          before !== undefined && nowMs - Date.parse(before.at) < grainMs
            ? kept(before)
            : replaced({ at: isoTime(nowMs) })
        )
      const postpone = Effect.fnUntraced(function* (id: string, error: BusError) {
        notBeforeMs.set(id, (yield* Clock.currentTimeMillis) + againMs)
        yield* Effect.logWarning("the use of a token could not be noted", error)
      })
      const writeNext = Effect.flatMap(Queue.take(waiting), (id) =>
        Effect.catch(Effect.asVoid(write(id)), (error) => postpone(id, error))
      )
      yield* Effect.forkScoped(supervise("uses of tokens", Effect.forever(writeNext)))

      const all = Effect.map(
        bucket.entries,
        (entries) => new Map(entries.map(({ key, value }) => [key, value.at] as const))
      )
      return TokenUses.of({ note, all })
    })
  )
}

const makeRoom = (noted: Map<string, number>) => {
  for (const oldest of noted.keys()) {
    if (noted.size < notedMax) return
    noted.delete(oldest)
  }
}

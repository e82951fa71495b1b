/**
 * When each token was last used, to within an hour. A request pays one look into a table; a fiber in the background
 * writes, once an hour for each token over all replicas. The bucket is not that of the tokens, so that a role that
 * records uses cannot make tokens.
 */
import { Clock, Context, Effect, Layer, Queue, Schema } from "effect"
import { type BusError, kept, Kv, records, replaced } from "#bus"
import { isoTime, Timestamp } from "#base"
import { supervise } from "#runtime"

const TokenUse = Schema.Struct({ at: Timestamp })

const grainMs = 3_600_000
// A request does not ask a broker that was away within this time.
const againMs = 60_000
// How many tokens are remembered here; for a forgotten one the store says when it was last written.
const notedMax = 4_096
// Each is one small write; a first use beyond these is recorded with the token's next use.
const waitingMax = 1_024

export class TokenUses extends Context.Service<
  TokenUses,
  {
    /** Never waits and never fails. */
    readonly note: (id: string) => Effect.Effect<void>
    /** The times of last use, by the token's id. */
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
      const later = Effect.fnUntraced(function* (id: string, error: BusError) {
        notBeforeMs.set(id, (yield* Clock.currentTimeMillis) + againMs)
        yield* Effect.logWarning("the use of a token could not be noted", error)
      })
      const writeNext = Effect.flatMap(Queue.take(waiting), (id) =>
        Effect.catch(Effect.asVoid(write(id)), (error) => later(id, error))
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

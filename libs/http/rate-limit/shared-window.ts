/**
 * A rate window over all replicas: each key's takes are a log in the store, and takes that arrive together share a
 * write. As exact as the replicas' clocks agree.
 */
import { hash } from "node:crypto"
import { Effect, Result, Schema } from "effect"
import { type BusError, BusUnavailable, Kv, records } from "#bus"
import { Metrics } from "#runtime"
import { sharedWindowTakes } from "../metrics.ts"
import { giveBackToLog, type RateTaken, type RateWindow, takeFromLog } from "./RateWindow.ts"

export interface SharedWindowOptions {
  /** Names the window in refusals, in metrics and in the store: letters, digits, `-` and `_`. */
  readonly name: string
  /** At most 300: that many times are kept per key. */
  readonly limit: number
  /** At most a day. */
  readonly windowMs: number
}

const limitMax = 300
const windowMsMax = 86_400_000
const names = /^[A-Za-z0-9_-]{1,64}$/u
// Shorter than any caller waits for a refusal.
const withinMs = 3_000
const logOfTakes = Schema.Array(Schema.Int)

/** Made once, where its role starts. A limit, a length or a name that cannot be stored is a defect. */
export const sharedWindow = Effect.fnUntraced(function* (options: SharedWindowOptions) {
  const { name, limit, windowMs } = options
  if (!names.test(name) || limit < 1 || limit > limitMax || windowMs < 1 || windowMs > windowMsMax) {
    return yield* Effect.die(new RangeError(`no such window: ${JSON.stringify(options)}`))
  }
  const bucket = yield* (yield* Kv).open("rate-windows", logOfTakes)
  // A log lives a window longer than its last take; by then all its times have expired.
  const logs = records(bucket, { together: true, keptMs: () => windowMs + 1_000 })
  const takes = (yield* Metrics).counter(sharedWindowTakes)
  takes.begin({ window: name })
  const idOf = (key: string) => `${name}.${hash("sha256", key, "hex")}`
  const inTime = <A>(change: Effect.Effect<A, BusError>) =>
    Effect.timeoutOrElse(change, {
      duration: withinMs,
      orElse: () =>
        new BusUnavailable({ operation: `count a call in ${name}`, detail: `no answer within ${withinMs} ms` })
    })

  const takeNow = (key: string) =>
    logs.change(idOf(key), (log = [], { nowMs }) => {
      const { decision, log: next } = takeFromLog(log, options, nowMs)
      return Result.succeed({ answer: decision, next: decision._tag === "Taken" ? next : undefined })
    })
  const take = Effect.fn("SharedWindow.take")(function* (key: string) {
    const { answer: decision } = yield* Effect.tapError(inTime(takeNow(key)), () =>
      Effect.sync(() => takes.inc({ window: name, outcome: "failed" }))
    )
    takes.inc({ window: name, outcome: decision._tag === "Taken" ? "taken" : "refused" })
    return decision
  })
  const giveBack = (key: string, { takenAtMs }: RateTaken) =>
    Effect.asVoid(
      inTime(
        logs.change(idOf(key), (log = []) => Result.succeed({ answer: undefined, next: giveBackToLog(log, takenAtMs) }))
      )
    )
  const window: RateWindow<BusError> = { name, limit, windowMs, take, giveBack }
  return window
})

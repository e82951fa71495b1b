/**
 * How each model's calls ended. They are counted in memory, and written to KV `model-uptime` in the background: at most
 * one write per model and minute by each process, however many calls there were. Several processes add to one record by
 * compare-and-set; a batch has a number, so that one whose reply from the broker was lost counts once. A process that
 * is killed loses its last minute.
 */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, Random } from "effect"
import { kept, Kv, records, replaced } from "#bus"
import {
  callOutcomes,
  type CallOutcome,
  type Cell,
  ModelUptime,
  modelUptimeKeptMs,
  modelUptimeKey,
  quarterOf,
  type UptimeBatch,
  withBatch
} from "#gateway/contract"
import { Configuration } from "#configuration"
import { supervise } from "#runtime"

export interface CountedCall {
  readonly model: string
  /** An attempt at this provider; without it, the call as its caller saw it. */
  readonly provider?: string
  readonly outcome: CallOutcome
}

// As many as a turn's writes keep busy; a thousand models are written within a second.
const writesAtOnce = 8
// The broker may be unavailable when the process ends.
const lastWriteWithin = "2 seconds"

export class Uptime extends Context.Service<Uptime, { readonly count: (call: CountedCall, nowMs: number) => void }>()(
  "starling/model-gateway/Uptime"
) {
  static readonly layer = Layer.effect(
    Uptime,
    Effect.gen(function* () {
      const kv = yield* Kv
      const { ModelGateway } = yield* Configuration
      const book = makeCallBook(randomBytes(9).toString("base64url"))

      const writeAll = Effect.gen(function* () {
        const batches = book.batches()
        if (batches.length === 0) return
        const uptimes = records(yield* kv.open("model-uptime", ModelUptime), { keptMs: () => modelUptimeKeptMs })
        yield* Effect.forEach(
          batches,
          (batch) =>
            // A record that already includes the batch stays as it is.
            Effect.map(
              uptimes.change(modelUptimeKey(batch.model), (before, { nowMs }) => {
                const after = withBatch(before, batch, nowMs)
                return after === undefined ? kept(before) : replaced(after)
              }),
              () => book.stored(batch)
            ),
          { concurrency: writesAtOnce, discard: true }
        )
      })
      const turn = Effect.catch(writeAll, (error) =>
        Effect.logWarning("calls of models are counted and not written yet", error)
      )
      yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(turn), lastWriteWithin))
      const everyMs = ModelGateway.UptimeWriteSeconds * 1_000
      // Processes that started together do not write together.
      const loop = Effect.sleep(everyMs * (yield* Random.next)).pipe(
        Effect.andThen(Effect.forever(Effect.andThen(turn, Effect.sleep(everyMs))))
      )
      yield* Effect.forkScoped(supervise("uptime of models", loop))
      return Uptime.of({ count: book.count })
    })
  )
}

interface CallBook {
  readonly count: (call: CountedCall, nowMs: number) => void
  /** What is to be written: a batch that was not stored stays as it is, and newer counts wait for the next. */
  readonly batches: () => ReadonlyArray<UptimeBatch>
  readonly stored: (batch: UptimeBatch) => void
}

/** Counts by quarter: a call costs three look-ups. */
type Quarters = Map<number, [number, number, number, number]>

interface Page {
  readonly calls: Quarters
  readonly providers: Map<string, Quarters>
}

/** The counts of one process since it last wrote. Memory grows with quarters, not with calls. */
export const makeCallBook = (writer: string): CallBook => {
  const pages = new Map<string, Page>()
  const pending = new Map<string, UptimeBatch>()
  let batch = 0
  return {
    count: ({ model, provider, outcome }, nowMs) => {
      const page = entryOf(pages, model, emptyPage)
      const quarters = provider === undefined ? page.calls : entryOf(page.providers, provider, emptyQuarters)
      entryOf(quarters, quarterOf(nowMs), noCounts)[placeOf[outcome]] += 1
    },
    batches: () => {
      for (const [model, { calls, providers }] of pages) {
        if (pending.has(model)) continue
        batch += 1
        const rows = [...providers].map(([provider, quarters]) => [provider, cellsOf(quarters)] as const)
        pending.set(model, { writer, batch, model, calls: cellsOf(calls), providers: new Map(rows) })
        pages.delete(model)
      }
      return [...pending.values()]
    },
    stored: ({ model }) => void pending.delete(model)
  }
}

const placeOf = Object.fromEntries(callOutcomes.map((outcome, place) => [outcome, place])) as Readonly<
  Record<CallOutcome, 0 | 1 | 2 | 3>
>

const noCounts = (): [number, number, number, number] => [0, 0, 0, 0]
const emptyQuarters = (): Quarters => new Map()
const emptyPage = (): Page => ({ calls: new Map(), providers: new Map() })

const entryOf = <K, V>(map: Map<K, V>, key: K, made: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const fresh = made()
  map.set(key, fresh)
  return fresh
}

const cellsOf = (quarters: Quarters): ReadonlyArray<Cell> =>
  [...quarters].map(([quarter, counts]): Cell => [quarter, ...counts])

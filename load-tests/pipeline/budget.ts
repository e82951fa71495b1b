/**
 * Spending, counted: from nothing out of a log of a million usage records over 31 days, at every sweep after, and after
 * a restart. Beside it the bare reading of the same log. Whatever way it is counted, it must come to the same.
 */
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Effect, Stream } from "effect"
import { StreamReader } from "#bus"
import { openSpendLedger, type SpendLedger } from "#sweeper/spend"
import { busOn } from "#dev/fixtures/bus"
import { startNatsServer } from "#dev/fixtures/nats-server"
import { atMost, exactly, figuresOf, type Findings } from "../figures.ts"
import { projects, usageLog } from "./usage-log.ts"

const total = Number(process.env["LOAD_RECORDS"] ?? 1_000_000)
// What a busy fleet spends in a minute, between two sweeps.
const perSweep = 5_000
const sweeps = 5

const seconds = (ms: number) => ms / 1_000

const timed = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* work
    return { value, tookMs: performance.now() - began }
  })

const bareRead = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("LOG")
  let bytes = 0
  yield* Stream.runForEachArray(reader.range("LOG", { fromSequence: 1, toSequence: lastSequence }), (page) =>
    Effect.sync(() => page.forEach(({ data }) => (bytes += data.length)))
  )
  return bytes
})

export const budget = async (): Promise<Findings> => {
  const server = await startNatsServer()
  const nowMs = Date.now()
  const log = usageLog(nowMs, total)
  const figure = figuresOf("budget")
  const connection = await connect({ servers: server.url })
  const client = jetstream(connection)

  const wrong = ({ book }: SpendLedger) =>
    [...log.expected].filter(([project, microUsd]) => book.spentBy(project, nowMs) !== microUsd).length

  const program = Effect.gen(function* () {
    const loadedMs = yield* Effect.promise(() => log.publish(client, 0, total))
    const bare = yield* timed(bareRead)
    const rebuilt = yield* timed(Effect.tap(openSpendLedger(), (ledger) => ledger.catchUp(nowMs)))
    const ledger = rebuilt.value
    let wrongs = wrong(ledger)
    const sweepMs: Array<number> = []
    for (let sweep = 0; sweep < sweeps; sweep++) {
      yield* Effect.promise(() => log.publish(client, total + sweep * perSweep, perSweep))
      sweepMs.push((yield* timed(ledger.catchUp(nowMs))).tookMs)
      wrongs += wrong(ledger)
    }
    const restarted = yield* timed(Effect.tap(openSpendLedger(), (again) => again.catchUp(nowMs)))
    wrongs += wrong(restarted.value)
    return [
      figure("records loaded", total, ""),
      figure("bytes of a record", log.recordBytes, "B"),
      figure("loading them, per second", total / seconds(loadedMs), "/s"),
      figure("reading them bare", seconds(bare.tookMs), "s"),
      figure("counting from nothing", seconds(rebuilt.tookMs), "s", atMost(60, seconds(rebuilt.tookMs), "s")),
      figure(
        "a sweep after, longest of 5",
        seconds(Math.max(...sweepMs)),
        "s",
        atMost(2, seconds(Math.max(...sweepMs)), "s")
      ),
      figure("a restart, from the copy", seconds(restarted.tookMs), "s", atMost(2, seconds(restarted.tookMs), "s")),
      figure(`sums that are wrong, of ${projects * (sweeps + 2)}`, wrongs, "", exactly(0, wrongs)),
      figure("memory afterwards", process.memoryUsage().rss / 2 ** 20, "MB")
    ]
  })
  try {
    return { figures: await Effect.runPromise(Effect.provide(program, busOn(server))), series: [] }
  } finally {
    await connection.close()
    await server.stop()
  }
}

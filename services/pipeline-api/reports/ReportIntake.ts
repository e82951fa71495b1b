/**
 * Reports of runners and internal services, from the work queue REPORTS, by one replica at a time (lease `reports`), so
 * that two of the same item are decided in the order in which they were stored. A report's id is the command's id: one
 * that comes twice changes nothing the second time.
 * Acked: what was decided, what comes too late, what its entity refuses or is not there for. Handed back: what met a
 * busy entity or a broker that is away; later ones of the same entity wait for it. What breaks its schema: REJECTED.
 */
import { Effect, Layer, type Scope } from "effect"
import { type Consumption, consume, done, handBack, Leases, type Received, type Settlement } from "#bus"
import type { Report } from "#contracts"
import { Configuration, Drain, Health, Metrics, supervise } from "#runtime"
import { reportsTotal } from "../metrics.ts"
import { orderedKeys } from "./ordered-keys.ts"
import { orderKeyOf, reportCodec } from "./report-codec.ts"
import { Reports } from "./Reports.ts"

// A report takes milliseconds; one that waits for its turn, or for the broker, is kept alive by heartbeats.
const ackWaitMs = 30_000
const againMs = 250
// What still runs then is handed back: a report is as good at the next process.
const drainPatienceMs = 20_000
const stallMs = 30_000
const beatEvery = "5 seconds"

const consumer = (unackedMax: number) => ({
  stream: "REPORTS",
  durable: "pipeline-api",
  filterSubjects: ["reports.*"],
  unackedMax,
  ackWaitMs
})

const takeReports = Effect.fnUntraced(function* (onConsumption: (consumption: Consumption | undefined) => void) {
  const { ReportsMax } = (yield* Configuration).PipelineApi
  const reports = yield* Reports
  const counted = (yield* Metrics).counter(reportsTotal)
  const turns = orderedKeys()

  const handle = ({ value, sequence, storedAtMs }: Received<Report>) => {
    const work = Effect.map(reports.carryOut(value, storedAtMs), (outcome): Settlement => {
      counted.inc({ kind: value.kind, outcome })
      return outcome === "handed_back" ? handBack(againMs) : done
    })
    const isDone = (settlement: Settlement) => settlement._tag === "Done"
    return turns.inTurn(orderKeyOf(value), sequence, work, isDone, handBack(againMs))
  }
  const consumption = yield* consume({
    consumer: consumer(ReportsMax),
    codec: reportCodec,
    origin: "reports",
    handler: handle
  })
  onConsumption(consumption)
  yield* Effect.addFinalizer(() => Effect.sync(() => onConsumption(undefined)))
  return yield* Effect.never
})

export const ReportIntake = {
  /** Takes reports for the life of the scope. */
  layer: (holder: string) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const leases = yield* Leases
        const loop = yield* (yield* Health).loop("reports", { stallMs })
        let current: Consumption | undefined
        const work = Effect.scoped(takeReports((consumption) => void (current = consumption)))
        // Waiting for the lease, or for reports, is no standstill.
        yield* beating(loop.beat)
        yield* Effect.forkScoped(supervise("reports", leases.whileHeld({ key: "reports", holder }, work)))
        yield* (yield* Drain).register(
          "reports",
          Effect.suspend(() => current?.drain(drainPatienceMs) ?? Effect.succeed({ finished: 0, handedBack: 0 }))
        )
      })
    )
}

const beating = (beat: () => void): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sync(beat), Effect.sleep(beatEvery))))

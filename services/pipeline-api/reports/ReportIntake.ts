/**
 * Reports of runners and internal services, from the work queue REPORTS. One replica at a time takes them (lease
 * `reports`), so that two of the same item are decided in the order in which they were stored. A report's id is the
 * command's id: a repeated report changes nothing.
 *
 * It acks a report that was decided, that is too late, or whose entity refuses it or does not exist. It hands back a
 * report that found a busy entity or an unreachable broker; later reports of the same entity wait for it. A report that
 * breaks its schema goes to REJECTED.
 *
 * The loop is alive while no report is in work for too long and waiting ones are taken, or while it waits for its lease
 * or the broker.
 */
import { Clock, Effect, Layer, Result } from "effect"
import { parseJson } from "#base/json"
import {
  ack,
  type AckDecision,
  consume,
  Consumers,
  type Consumption,
  Leases,
  type MessageCodec,
  nak,
  readyConsumer,
  type Received
} from "#bus"
import { decodeReport, type Report, reportKinds } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Drain, Health, keyedQueue, Metrics, supervise } from "#runtime"
import { beatWhile, movement, stallMsDefault } from "../beat-while.ts"
import { reportsTotal } from "../metrics.ts"
import { Reports } from "./Reports.ts"

const againMs = 250
// Reports still running then are handed back: the next process can take them as well.
const drainPatienceMs = 20_000

const consumer = readyConsumer("REPORTS", "pipeline-api")

/** The reports in work, since when, and whether any has finished. */
interface InHand {
  readonly sinceMs: Map<number, number>
  readonly moved: () => void
}

const takeReports = Effect.fnUntraced(function* (
  { sinceMs, moved }: InHand,
  onConsumption: (consumption: Consumption | undefined) => void
) {
  const { ReportsMax } = (yield* Configuration).PipelineApi
  const reports = yield* Reports
  const counted = (yield* Metrics).counter(reportsTotal)
  for (const kind of Object.keys(reportKinds)) counted.begin({ kind })
  const turns = orderedKeys()

  const handle = ({ value, sequence, storedAtMs }: Received<Report>) => {
    const work = Effect.map(reports.carryOut(value, storedAtMs), (outcome): AckDecision => {
      counted.inc({ kind: value.kind, outcome })
      return outcome === "handed_back" ? nak(againMs) : ack
    })
    const isDone = (decision: AckDecision) => decision._tag === "Ack"
    const inTurn = turns.inTurn({ key: orderKeyOf(value), sequence, isDone, onDeferred: nak(againMs) }, work)
    return Effect.andThen(
      Effect.map(Clock.currentTimeMillis, (nowMs) => sinceMs.set(sequence, nowMs)),
      Effect.ensuring(
        inTurn,
        Effect.sync(() => {
          sinceMs.delete(sequence)
          moved()
        })
      )
    )
  }
  const consumption = yield* consume({
    consumer,
    inWorkMax: ReportsMax,
    codec: reportCodec,
    origin: "reports",
    handler: handle
  })
  onConsumption(consumption)
  yield* Effect.addFinalizer(() => Effect.sync(() => onConsumption(undefined)))
  return yield* Effect.never
})

export const ReportIntake = {
  /** Takes reports while the scope is open. */
  layer: (holder: string, stallMs = stallMsDefault) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const leases = yield* Leases
        const consumers = yield* Consumers
        const loop = yield* (yield* Health).loop("reports", { stallMs })
        const { moved, hasMoved } = movement()
        const sinceMs = new Map<number, number>()
        let current: Consumption | undefined
        const work = Effect.scoped(takeReports({ sinceMs, moved }, (consumption) => void (current = consumption))).pipe(
          Effect.tapErrorTag("BusUnavailable", () => Effect.sync(moved))
        )
        const isWell = Effect.gen(function* () {
          const hasJustMoved = hasMoved()
          const latestMs = (yield* Clock.currentTimeMillis) - stallMs
          if ([...sinceMs.values()].some((since) => since < latestMs)) return false
          if (hasJustMoved || sinceMs.size > 0) return true
          if (current === undefined) return false
          return (yield* consumers.backlog(consumer.stream, consumer.durable)).pending === 0
        })
        yield* beatWhile(loop, stallMs, isWell)
        const lease = { key: "reports", holder, onWait: moved }
        yield* Effect.forkScoped(supervise("reports", leases.whileHeld(lease, work)))
        yield* (yield* Drain).register(
          "reports",
          Effect.suspend(() => current?.drain(drainPatienceMs) ?? Effect.succeed({ finished: 0, handedBack: 0 }))
        )
      })
    )
}

const utf8 = new TextEncoder()

/** A report from the bus: its kind selects the schema. */
const reportCodec: MessageCodec<Report> = {
  decode: (message) => Result.flatMap(parseJson(message.data), (json) => decodeReport(kindOf(json), json)),
  encode: (report) => ({ data: utf8.encode(JSON.stringify(report)), headers: [] })
}

const kindOf = (json: unknown) => (typeof json === "object" && json !== null && "kind" in json ? String(json.kind) : "")

/** Reports with the same key are decided in their order. */
const orderKeyOf = (report: Report): string => {
  if ("workItemId" in report && report.workItemId !== null) return `workitem ${report.workItemId}`
  if ("releaseId" in report) return `release ${report.releaseId}`
  if ("agent" in report) return `agent ${report.agent}`
  return "projectId" in report ? `project ${report.projectId}` : `report ${report.reportId}`
}

export interface ReportTurn<A> {
  readonly key: string
  readonly sequence: number
  /** Whether the message is finished; an unfinished one blocks the later ones. */
  readonly isDone: (outcome: A) => boolean
  /** The outcome of a message whose predecessor has yet to be redelivered. */
  readonly onDeferred: A
}

interface OrderedKeys {
  /** Runs `work` in the key's turn. */
  readonly inTurn: <A, R>(turn: ReportTurn<A>, work: Effect.Effect<A, never, R>) => Effect.Effect<A, never, R>
}

/**
 * Order among messages of one key. Each waits for those before it. After one was handed back to the broker, later ones
 * are handed back too until it is redelivered. Messages of other keys do not wait. The broker's limit of unacked
 * messages bounds the memory.
 */
export const orderedKeys = (): OrderedKeys => {
  const queue = keyedQueue(Number.POSITIVE_INFINITY)
  const unfinished = new Map<string, Set<number>>()
  return {
    inTurn: (turn, work) => queue.run(turn.key, Effect.succeed(turn.onDeferred), takeTurn(unfinished, turn, work))
  }
}

const takeTurn = Effect.fnUntraced(function* <A, R>(
  unfinished: Map<string, Set<number>>,
  { key, sequence, isDone, onDeferred }: ReportTurn<A>,
  work: Effect.Effect<A, never, R>
) {
  const started = unfinished.get(key) ?? new Set<number>()
  unfinished.set(key, started)
  const isDeferred = [...started].some((other) => other < sequence)
  started.add(sequence)
  if (isDeferred) return onDeferred
  const finish = () => {
    started.delete(sequence)
    if (started.size === 0) unfinished.delete(key)
  }
  // A defect is a bug; without this it would block the others forever.
  const outcome = yield* Effect.onError(work, () => Effect.sync(finish))
  if (isDone(outcome)) finish()
  return outcome
})

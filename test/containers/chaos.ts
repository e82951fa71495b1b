/** A disturbance under load: all three jobs run, something is broken and repaired, and the books must balance. */
import { assert } from "@effect/vitest"
import { until } from "../../dev/fixtures/eventually.ts"
import { watchProcessorShare } from "../support/processor-share.ts"
import type { Books, Reconciled } from "./books.ts"
import type { LoadedFleet } from "./fleet.ts"
import type { Ledger } from "./ledger.ts"
import { startWork, type Work } from "./work.ts"
import { pauseMs } from "./worker.ts"

/** Milliseconds, by job. */
export interface Times {
  readonly events: number
  readonly items: number
  readonly payments: number
  readonly speech: number
}

export interface Survived extends Reconciled {
  /** From the disturbance until the work under way then, or new in the next second, had ended. */
  readonly recovery: Times
  /** The slowest unit of work from the start of the load to its end. */
  readonly slowest: Times
  /** What a thread got of a processor from the disturbance to the recovery. */
  readonly processorShare: number
}

// Work that arrives in that moment meets the fleet at its worst.
const worstMs = 1_000

/** The slowest of a fleet's work, beside all other tests: what was lost with a broker is asked for once more after a minute. */
const comesWithinMs = 120_000

const ledgersOf = ({ events, payments, speech }: Work) => [
  events.published,
  events.cancelled,
  payments.paid,
  speech.waits
]

const isUnderWay = (work: Work) => ledgersOf(work).every((ledger) => ledger.done() > 2)

/** `disturb` resolves when the fleet is as it was. */
export const underLoad = async (
  fleet: LoadedFleet,
  books: Books,
  disturb: (work: Work) => Promise<void>
): Promise<Survived> => {
  const before = await books.now()
  const share = watchProcessorShare()
  const work = await startWork(fleet, share)
  let momentMs = 0
  try {
    await until(() => isUnderWay(work), { withinMs: comesWithinMs * fleet.patience })
    share.restart()
    momentMs = Date.now()
    await disturb(work)
    await pauseMs(Math.max(0, momentMs + worstMs - Date.now()))
    const isRecovered = () => ledgersOf(work).every((ledger) => ledger.open(momentMs + worstMs).length === 0)
    await until(isRecovered, { withinMs: comesWithinMs * fleet.patience })
  } catch (error) {
    await share.end()
    process.stderr.write(await fleet.faults())
    await work.stop().catch(() => undefined)
    throw error
  }
  const processorShare = await share.end()
  await work.stop()
  const recovery = timesOf(work, (ledger) => ledger.caughtUpAfterMs(momentMs, momentMs + worstMs))
  const slowest = timesOf(work, (ledger) => ledger.slowestMs())
  return { ...(await books.reconcile(work, before)), recovery, slowest, processorShare }
}

const timesOf = (work: Work, of: (ledger: Ledger) => number): Times => {
  const [events = 0, items = 0, payments = 0, speech = 0] = ledgersOf(work).map(of)
  return { events, items, payments, speech }
}

/** A line for each scenario, for the tables of docs/operations.md. */
export const tell = (name: string, survived: Survived, times: Times = survived.recovery) => {
  const { events, payments, streams, cut, twice, processorShare } = survived
  const seconds = Object.entries(times).map(([job, ms]) => `${job} ${(ms / 1_000).toFixed(1)} s`)
  const line = `${name}: ${seconds.join(", ")}; ${events} events, ${twice} twice, ${payments} payments, ${streams} streams, ${cut.length} cut; ${(processorShare * 100).toFixed(0)} % of a processor`
  process.stdout.write(`${line}\n`)
}

// A role starts anew in this time on processors that are its own, and listeners who hear nothing ask again in it.
const backMs = 5_000

/** All work was caught up within an ack wait, which is a clock's, and `backMs` of a processor. */
export const boundedBy = async (fleet: LoadedFleet, { recovery, processorShare }: Survived, ackWaitMs: number) => {
  const withinMs = ackWaitMs + backMs / processorShare
  if (Object.values(recovery).some((ms) => ms > withinMs)) process.stderr.write(await fleet.faults())
  const told = `with ${(processorShare * 100).toFixed(0)} % of a processor`
  for (const [job, ms] of Object.entries(recovery)) assert.isAtMost(ms, withinMs, `${job} came back too late ${told}`)
}

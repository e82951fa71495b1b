/** The reconciliation at the end of a scenario: published, paid and spoken work against its results. */
import { jetstreamManager } from "@nats-io/jetstream"
import { assert } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { storedEventName } from "#base"
import { askLocal } from "../../dev/chain/evm/local-rpc.ts"
import { localEvmAsset } from "../../dev/chain/evm/LocalEvmChain.ts"
import { paymentAccountsOf } from "../../dev/fixtures/payment-accounts.ts"
import { storedIn } from "../support/stored.ts"
import type { LoadedFleet } from "./fleet.ts"
import { everyEvent } from "./world-places.ts"
import type { Work } from "./work.ts"
import { insist } from "./worker.ts"

export interface Reconciled {
  readonly events: number
  /** Deliveries of an event that had arrived already; each with the delivery's own id. */
  readonly twice: number
  readonly payments: number
  readonly streams: number
  /** Why each of the others broke. */
  readonly cut: ReadonlyArray<string>
}

export interface Books {
  /** Waits until everything has ended and compares it; `before` is the state when the work began. */
  readonly reconcile: (work: Work, before: Reconciled) => Promise<Reconciled>
  readonly now: () => Promise<Reconciled>
  readonly close: () => Promise<void>
}

export const nothingYet: Reconciled = { events: 0, twice: 0, payments: 0, streams: 0, cut: [] }

/** Sequences of everything in EVENTS but the relay's cursor, and the subject of each. */
const readEvents = async (fleet: LoadedFleet): Promise<ReadonlyMap<number, string>> => {
  const connection = await fleet.broker.connectAs("operator")
  const manager = await jetstreamManager(connection)
  const found = new Map<number, string>()
  for (const message of await storedIn(manager, "EVENTS", ">")) {
    if (storedEventName(message.subject) === undefined) continue
    const { workItem, details } = message.json<{
      workItem?: { id: string } | null
      details?: { sandboxId?: string }
    }>()
    found.set(message.seq, workItem?.id ?? details?.sandboxId ?? "")
  }
  await connection.close()
  return found
}

const eventsAndArrivals = async (fleet: LoadedFleet) => {
  const events = await readEvents(fleet)
  const arrivals = (await fleet.arrivals.all()).filter(({ endpoint }) => endpoint === everyEvent)
  const bySequence = Map.groupBy(arrivals, ({ sequence }) => sequence)
  return { events, arrivals, bySequence }
}

export const openBooks = async (fleet: LoadedFleet): Promise<Books> => {
  const scope = Scope.makeUnsafe()
  const money = await Effect.runPromise(
    Scope.provide(
      paymentAccountsOf({
        server: fleet.broker.addressAs("operator"),
        chain: { asset: localEvmAsset, rpc: (method, params) => askLocal(fleet.rpc, method, params) }
      }),
      scope
    )
  )
  const settledPayments = async () => {
    const states = await Effect.runPromise(money.claimStates)
    const receipts = (await Effect.runPromise(money.receipts)).filter(
      ({ outcome, network }) => outcome === "settled" && network.startsWith("eip155:")
    )
    const keys = new Set(receipts.map(({ claimKey }) => claimKey))
    const transfers = await Effect.runPromise(money.transfers)
    return { states, receipts: receipts.length, keys: keys.size, transfers: transfers.length }
  }

  const reconcileEvents = async ({ events: { published, cancelled } }: Work) => {
    const read = () => eventsAndArrivals(fleet)
    const { events, arrivals, bySequence } = await insist("every event is delivered", async () => {
      const all = await read()
      return [...all.events.keys()].every((sequence) => all.bySequence.has(sequence)) ? all : undefined
    })
    for (const same of bySequence.values()) {
      assert.strictEqual(new Set(same.map(({ delivery }) => delivery)).size, 1, "a repeated delivery has its own id")
    }
    const told = Map.groupBy(events, ([, about]) => about)
    for (const ledger of [published, cancelled]) {
      assert.deepStrictEqual(ledger.open(), [])
      for (const id of ledger.ids()) assert.strictEqual(told.get(id)?.length, 1, `${id} is told once`)
    }
    return { events: events.size, twice: arrivals.length - bySequence.size }
  }

  const told = (money: Awaited<ReturnType<typeof settledPayments>> | undefined) => {
    if (money === undefined) return "nothing"
    const { states, ...counts } = money
    const unsettled = states.filter((state) => state !== "SETTLED")
    return JSON.stringify({ ...counts, claims: states.length, unsettled })
  }

  const reconcileMoney = async ({ payments: { paid } }: Work, before: Reconciled) => {
    const expected = before.payments + paid.done()
    assert.deepStrictEqual(paid.open(), [])
    let last: Awaited<ReturnType<typeof settledPayments>> | undefined
    await insist("the money's books are even", async () => {
      const now = await settledPayments()
      last = now
      const isEven = now.receipts === expected && now.keys === expected && now.transfers === expected
      return isEven && !now.states.some((state) => ["CLAIMED", "SERVING", "SETTLING"].includes(state))
        ? true
        : undefined
    }).catch(() => assert.fail(`${expected} were paid for, and the books say ${told(last)}`))
    return expected
  }

  const now = async (): Promise<Reconciled> => {
    const { events, arrivals, bySequence } = await eventsAndArrivals(fleet)
    const { receipts } = await settledPayments()
    return { events: events.size, twice: arrivals.length - bySequence.size, payments: receipts, streams: 0, cut: [] }
  }

  return {
    now,
    reconcile: async (work, before) => {
      const { streams } = work.speech
      assert.deepStrictEqual(streams.faults, [])
      assert.strictEqual(streams.whole + streams.cut.length, streams.started)
      const payments = await reconcileMoney(work, before)
      const { events, twice } = await reconcileEvents(work)
      return {
        events: events - before.events,
        twice: twice - before.twice,
        payments: payments - before.payments,
        streams: streams.whole,
        cut: streams.cut
      }
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type BusError, BusUnavailable, Kv, Leases, Mailbox, RevisionConflict } from "#bus"
import { Configuration } from "#configuration"
import { lineLogger, Metrics } from "#runtime"
import { ChainUnavailable, type ChainTransfer, Claims } from "#payments"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { Networks } from "../../../../services/payment-settler/networks.ts"
import { Books } from "../../../../services/payment-settler/reconciliation/Books.ts"
import { reconciler } from "../../../../services/payment-settler/reconciliation/reconciler.ts"
import { Settler } from "../../../../services/payment-settler/settler.ts"
import { testNetwork } from "../../../support/payments.ts"

const away = Stream.fail(new ChainUnavailable({ operation: "read transfers", detail: "it is away" }))
const gift = (network: string): ChainTransfer => ({
  transaction: "0xgift",
  network,
  asset: testNetwork.Asset,
  payer: "0xp",
  payTo: testNetwork.PayTo,
  amount: 7n,
  nonce: null,
  position: "1:0"
})

interface Given {
  readonly networks: Readonly<Record<string, Stream.Stream<ChainTransfer, ChainUnavailable>>>
  /** Whether the bucket stores anything. */
  readonly isStored: () => boolean
  /** The revision of the checkpoint that another settler wrote meanwhile. */
  readonly writtenMeanwhile?: number
}

/** The counts and the log after a number of readings, one a minute, with no time of grace. */
const afterReadings = Effect.fnUntraced(function* ({ networks, isStored, writtenMeanwhile }: Given, readings: number) {
  const lines: Array<string> = []
  const networksMap = new Map(
    Object.entries(networks).map(([Network, transfers]) => [
      Network,
      { entry: { ...testNetwork, Network }, chain: { transfers: () => transfers }, isRemote: false, addresses: [] }
    ])
  )
  const down = Effect.suspend(
    () => new BusUnavailable({ operation: "store a checkpoint", detail: "the broker is away" })
  )
  const kept = new Map<string, { readonly key: string; readonly value: unknown; readonly revision: number }>()
  let [checkpoint, mayBeRead] = [writtenMeanwhile, false]
  const bucket = {
    get: (key: string) => {
      const isThere = key.startsWith("books.") && mayBeRead && checkpoint !== undefined
      return Effect.succeed(
        isThere ? Option.some({ key, value: { position: null, receiptsFrom: 1 }, revision: checkpoint }) : Option.none()
      )
    },
    create: (key: string, value: unknown) => {
      if (key.startsWith("books.")) return bucket.update(key, value, 0)
      if (isStored()) kept.set(key, { key, value, revision: 1 })
      return isStored() ? Effect.succeed(1) : down
    },
    update: (key: string, _value: unknown, revision: number): Effect.Effect<number, BusError> => {
      if (!isStored()) return down
      if (!key.startsWith("books.") || checkpoint === undefined) return Effect.succeed(1)
      mayBeRead = true
      if (revision !== checkpoint) return new RevisionConflict({ operation: "update", detail: "another came first" })
      checkpoint += 1
      return Effect.succeed(checkpoint)
    },
    scan: (keys: string) =>
      Stream.fromIterable([...kept.values()].filter(({ key }) => key.startsWith(keys.slice(0, -1))))
  }
  const services = Layer.mergeAll(
    Layer.succeed(Networks, networksMap as never),
    Layer.succeed(Claims, { all: Stream.empty } as never),
    Layer.succeed(Ledger, { from: () => Stream.empty } as never),
    Layer.succeed(Settler, {} as never),
    Layer.succeed(Leases, { whileHeld: (_lease: unknown, work: Effect.Effect<never>) => work } as never),
    Layer.succeed(Mailbox, { instance: "settler-1" } as never),
    Layer.succeed(Kv, { open: () => Effect.succeed(bucket) } as never),
    Configuration.layerOf({ PaymentSettler: { ReconcileSeconds: 60, BooksGraceSeconds: 0 } })
  )
  return yield* Effect.gen(function* () {
    yield* TestClock.adjust((readings - 1) * 60_000 + 1_000)
    return { text: yield* (yield* Metrics).text, log: lines.join("\n"), checkpoint }
  }).pipe(
    Effect.provide(
      reconciler.pipe(
        Layer.provide(Books.layer),
        Layer.provide(services),
        Layer.provideMerge(Metrics.layerTest),
        Layer.provide(Logger.layer([lineLogger("json", (line) => void lines.push(line))]))
      )
    )
  )
})

const found = (network: string, count: number) =>
  new RegExp(`^payment_book_findings_total\\{(?=.*network="${network}").*\\} ${count}$`, "mu")

const standing = (network: string, count: number) =>
  new RegExp(
    `^payment_book_findings_standing\\{(?=.*network="${network}")(?=.*TransferWithoutReceipt).*\\} ${count}$`,
    "mu"
  )

describe("the reconciler", () => {
  it.effect("compares the other networks while one chain is away, and logs which one", () =>
    Effect.gen(function* () {
      const networks = { "eip155:1": away, "eip155:2": Stream.succeed(gift("eip155:2")) }
      const { text, log } = yield* afterReadings({ networks, isStored: () => true }, 1)
      assert.match(text, found("eip155:2", 1))
      assert.match(text, standing("eip155:2", 1))
      assert.match(text, standing("eip155:1", 0))
      assert.match(text, /^payment_books_read_timestamp_seconds\{.*network="eip155:2"/mu)
      assert.notMatch(text, /^payment_books_read_timestamp_seconds\{.*network="eip155:1"/mu)
      const warning = log.split("\n").find((line) => line.includes("it is away")) ?? ""
      assert.include(warning, "eip155:1")
    })
  )

  it.effect("writes its checkpoint at the next reading after another settler wrote one", () =>
    Effect.gen(function* () {
      const networks = { "eip155:1": Stream.succeed(gift("eip155:1")) }
      const given = { networks, isStored: () => true, writtenMeanwhile: 5 }
      const first = yield* afterReadings(given, 1)
      assert.strictEqual(first.checkpoint, 5)
      assert.include(first.log, "another came first")
      assert.strictEqual((yield* afterReadings(given, 2)).checkpoint, 6)
    })
  )

  it.effect("reports a finding once, even while its checkpoint cannot be stored", () =>
    Effect.gen(function* () {
      const networks = { "eip155:1": Stream.succeed(gift("eip155:1")) }
      const { text, log } = yield* afterReadings({ networks, isStored: () => false }, 3)
      assert.match(text, found("eip155:1", 1))
      assert.match(text, standing("eip155:1", 1))
      assert.include(log, "TransferWithoutReceipt")
      assert.include(log, "the broker is away")
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sumsReadMax } from "#console/api"
import { itemsOf, withConsole } from "../../support/console.ts"
import { moneySettings, payerNamed, receiptOf, storeReceipt } from "../../support/money.ts"

/** More than one answer sums up, of a hundred payers; the last one alone was not collected. */
const count = sumsReadMax + 2_000
const payers = Array.from({ length: 100 }, (_, index) => payerNamed(`payer ${index}`))
const settledAtMs = Date.parse("2026-11-23T12:00:00Z")
const only = receiptOf("the only one", { outcome: "uncollected", transaction: null, settledAtMs })

const fill = Effect.gen(function* () {
  yield* storeReceipt(only)
  yield* Effect.forEach(
    Array.from({ length: count - 1 }, (_, index) => index),
    (index) =>
      storeReceipt(
        receiptOf(`number ${index}`, { payer: payers[index % payers.length] ?? "", amount: "7", settledAtMs })
      ),
    { concurrency: 512, discard: true }
  )
})

const timed = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const beganMs = performance.now()
    const made = yield* work
    console.info(`${what}: ${(performance.now() - beganMs).toFixed(0)} ms`)
    return made
  })

describe(`${count} receipts`, () => {
  it.live(
    "are summed up as far as one answer goes, which says how far; are found one by one in pages; and are a table",
    () =>
      withConsole(
        (call) =>
          Effect.gen(function* () {
            yield* fill
            const sums = yield* timed("sums of the newest 50,000", call("GET /receipts/sums?by=payer"))
            assert.include(sums.body, { read: sumsReadMax, isWhole: false, leftOut: 0 })
            assert.lengthOf(itemsOf(sums.body), payers.length)
            const total = itemsOf(sums.body).reduce((sum, { settled }) => sum + BigInt(String(settled)), 0n)
            assert.strictEqual(total, 7n * BigInt(sumsReadMax))

            const newest = yield* timed("the newest page", call("GET /receipts"))
            assert.lengthOf(itemsOf(newest.body), 50)
            const ofPayer = yield* timed(
              "a page of a payer",
              call(`GET /receipts?network=${only.network}&payer=${only.payer}`)
            )
            assert.lengthOf(itemsOf(ofPayer.body), 1)
            let pages = 0
            let cursor = ""
            let found: ReadonlyArray<unknown> = []
            while (found.length === 0) {
              const page = yield* call(`GET /receipts?outcome=uncollected${cursor}`)
              found = itemsOf(page.body)
              cursor = `&cursor=${String(page.body["nextCursor"])}`
              pages += 1
            }
            // Each of them looks at 4,096.
            assert.strictEqual(pages, Math.ceil(count / 4_096))

            const table = yield* timed("the table", call("GET /receipts.csv"))
            assert.lengthOf(String(table.body["text"]).trimEnd().split("\r\n"), count + 1)
          }),
        moneySettings
      )
  )
})

/** Whether the books of a payer and of the gateway agree. */
import { inspect } from "node:util"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { Reach } from "./judged-gateway.ts"

const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((all, each) => all + each, 0n)

export interface Expected {
  /** How many calls were paid since. */
  readonly calls?: number
  /** Nobody told the payer what became of a call that its client left. */
  readonly left?: true
  /** The rest of the channel is back: until then only its receipts are looked at. */
  readonly back?: true
}

const accountsOf = Effect.fnUntraced(function* ({ account, pays }: Reach) {
  if (account === undefined) return { calls: 0, booked: 0n, lost: 0n, told: 0n, unknown: 0n }
  const settled = (yield* account.receipts).filter(({ outcome }) => outcome === "settled")
  const booked = sum(settled.map(({ amount }) => BigInt(amount)))
  const lines = account.lines()
  return {
    calls: settled.length,
    booked,
    lost: yield* account.lost,
    told: pays === undefined ? sum(lines.map(({ charged = 0n }) => charged)) : booked,
    // Signed for, and counted with its whole price.
    unknown: sum(lines.map(({ charged, price }) => (charged === undefined ? price : 0n)))
  }
})

/**
 * What the payer's lines, the wallet and the gateway's receipts say; then, whether they say the same of what was paid
 * since.
 */
export const openBooks = Effect.fnUntraced(function* (reach: Reach) {
  const before = yield* accountsOf(reach)
  return Effect.fnUntraced(function* ({ calls, left, back }: Expected = {}) {
    if (reach.account === undefined) return
    const isOpen = reach.pays?.scheme === "batch-settlement" && back === undefined
    const seen = { now: before }
    const agree = Effect.gen(function* () {
      const now = yield* accountsOf(reach)
      seen.now = now
      const isTold = now.told <= now.booked && now.booked <= now.told + now.unknown
      const isCounted = calls === undefined || now.calls - before.calls === calls
      return isTold && isCounted && (isOpen || now.lost === now.booked)
    })
    const lines = reach.account.lines
    yield* Effect.catchDefect(eventually(agree, { withinMs: 20_000 }), () =>
      Effect.sync(() => {
        const said = lines().map(({ text }) => text)
        assert.fail(`${inspect({ before, ...seen })}\n${said.slice(-8).join("\n")}`)
      })
    )
    if (left === undefined) assert.strictEqual(seen.now.unknown, before.unknown, "a charge is unknown to the payer")
  })
})

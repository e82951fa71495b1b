/** The payer's spending: its budget, a line for each call, and the totals at its end. */
import { Clock, Effect, Ref } from "effect"
import { isoTime } from "#base"
import { usdText } from "#payments"
import { type Budget, leftOf, newBudget, reserved, settled } from "./budget.ts"

/** One call, up to its current progress. */
export interface Call {
  readonly path: string
  readonly model: string
  /** The signed payment; undefined if none. */
  readonly signed?: { readonly id: number; readonly microUsd: bigint }
  /** Undefined while unknown. */
  readonly charged?: bigint
  readonly said: string
}

interface Books {
  readonly budget: Budget
  readonly signatures: number
  readonly calls: number
  readonly charged: bigint
  /** Signed for, without confirmation whether it was charged. */
  readonly unknown: bigint
}

export type Ledger = Effect.Success<ReturnType<typeof openLedger>>

export const openLedger = Effect.fnUntraced(function* (perHour: bigint, write: (line: string) => Effect.Effect<void>) {
  const books = yield* Ref.make<Books>({
    budget: newBudget(perHour),
    signatures: 0,
    calls: 0,
    charged: 0n,
    unknown: 0n
  })
  const left = Effect.gen(function* () {
    return leftOf((yield* Ref.get(books)).budget, yield* Clock.currentTimeMillis)
  })

  /** The payment's number, or undefined if too little is left for it. */
  const reserve = Effect.fnUntraced(function* (microUsd: bigint) {
    const atMs = yield* Clock.currentTimeMillis
    return yield* Ref.modify(books, (before) => {
      const id = before.signatures + 1
      const budget = reserved(before.budget, { id, atMs, microUsd })
      return budget === undefined ? [undefined, before] : [id, { ...before, budget, signatures: id }]
    })
  })

  /** Returns the uncharged part of a reserved payment. */
  const settle = (id: number, microUsd: bigint) =>
    Ref.update(books, (before) => ({ ...before, budget: settled(before.budget, id, microUsd) }))

  const end = Effect.fnUntraced(function* ({ path, model, signed, charged, said }: Call) {
    const price = signed?.microUsd ?? 0n
    yield* Ref.update(books, (before) => ({
      ...before,
      calls: before.calls + 1,
      charged: before.charged + (charged ?? 0n),
      unknown: before.unknown + (charged === undefined ? price : 0n)
    }))
    const at = isoTime(yield* Clock.currentTimeMillis)
    const cost = signed === undefined ? [] : [`price ${usdText(price)}`, chargedText(charged)]
    const words = [`${at} ${path} ${model}`, ...cost, said, `${usdText(yield* left)} USD left of the hour`]
    return yield* write(inOneLine(words.filter((word) => word !== "").join(" · ")))
  })

  const totals = Effect.gen(function* () {
    const { calls, signatures, charged, unknown } = yield* Ref.get(books)
    const lost = unknown === 0n ? "" : `, and ${usdText(unknown)} signed for of which nobody said what became`
    return yield* write(`${calls} calls, ${signatures} payments signed, ${usdText(charged)} USD charged${lost}`)
  })

  return { left, reserve, settle, end, totals }
})

/** Models and refusals contain text from others. */
const inOneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")

const chargedText = (charged: bigint | undefined) =>
  charged === undefined ? "charge unknown" : `charged ${usdText(charged)}`

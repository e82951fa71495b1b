/**
 * The spending limit per hour. A payment counts from its signature on, with its maximum cost; once the charge is known,
 * it counts with that. Pure.
 */
const hourMs = 3_600_000

interface Spending {
  readonly id: number
  readonly atMs: number
  readonly microUsd: bigint
}

export interface Budget {
  readonly perHour: bigint
  readonly spendings: ReadonlyArray<Spending>
}

export const newBudget = (perHour: bigint): Budget => ({ perHour, spendings: [] })

const within = ({ spendings }: Budget, nowMs: number) => spendings.filter(({ atMs }) => nowMs - atMs < hourMs)

export const leftOf = (budget: Budget, nowMs: number): bigint =>
  within(budget, nowMs).reduce((left, { microUsd }) => left - microUsd, budget.perHour)

/** The budget with one more payment; undefined if too little is left for it. */
export const reserved = (budget: Budget, spending: Spending): Budget | undefined =>
  spending.microUsd > leftOf(budget, spending.atMs)
    ? undefined
    : { ...budget, spendings: [...within(budget, spending.atMs), spending] }

/** The budget once a payment's actual cost is known; zero returns it. */
export const settled = (budget: Budget, id: number, microUsd: bigint): Budget => ({
  ...budget,
  spendings: budget.spendings.flatMap((each) => {
    if (each.id !== id) return [each]
    return microUsd === 0n ? [] : [{ ...each, microUsd }]
  })
})

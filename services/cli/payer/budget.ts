/**
 * What may be spent within an hour. A payment counts from its signature on, with all that it could cost; once it is
 * known what was charged, it counts with that. Pure.
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

/** The budget with one more payment; undefined where too little is left for it. */
export const reserved = (budget: Budget, spending: Spending): Budget | undefined =>
  spending.microUsd > leftOf(budget, spending.atMs)
    ? undefined
    : { ...budget, spendings: [...within(budget, spending.atMs), spending] }

/** The budget when a payment turns out to have cost this; zero gives it back. */
export const settled = (budget: Budget, id: number, microUsd: bigint): Budget => ({
  ...budget,
  spendings: budget.spendings.flatMap((each) => {
    if (each.id !== id) return [each]
    return microUsd === 0n ? [] : [{ ...each, microUsd }]
  })
})

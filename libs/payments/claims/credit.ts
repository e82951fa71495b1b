/**
 * How much of a payer's calls can be unpaid at once, in millionths of a dollar. Pure.
 *
 * A call is unpaid from its claim until its settlement. A payer earns credit by what it pays, up to a maximum; a call
 * whose payment could not be collected, or that its caller left, reduces it by as much again. An unpaid amount beyond
 * that credit counts as a new payer's: it is bounded for each payer and, because anyone can create wallets, for all
 * payers together. A call that is lost moves its price from unpaid to owed and changes no sum, so the bounds apply to
 * both together.
 *
 * A debt is repaid by later payments, and forgotten within a day: someone who creates new wallets would not wait for
 * it.
 */
import { Schema } from "effect"

const MicroUsd = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export interface CreditTerms {
  /** What a payer may have unpaid beyond what it has paid before, and owe. */
  readonly newPayerMax: number
  /** The maximum credit that a payer earns. */
  readonly payerMax: number
  /** What all payers together may have unpaid beyond what each has paid before, and owe. */
  readonly newPayersMax: number
}

/** An amount that is forgotten within a day. */
export const Owed = Schema.Struct({ microUsd: MicroUsd, atMs: MicroUsd })
export interface Owed extends Schema.Schema.Type<typeof Owed> {}

export const Credit = Schema.Struct({ earned: MicroUsd, owed: Owed })
export interface Credit extends Schema.Schema.Type<typeof Credit> {}

const nothingOwed: Owed = { microUsd: 0, atMs: 0 }
export const noCredit: Credit = { earned: 0, owed: nothingOwed }

const dayMs = 86_400_000

/** The remaining part of it. A clock that is behind forgets nothing. */
export const owedAt = ({ microUsd, atMs }: Owed, nowMs: number): number =>
  Math.ceil(microUsd * (1 - Math.min(Math.max(0, nowMs - atMs), dayMs) / dayMs))

export const owedMore = (owed: Owed, microUsd: number, nowMs: number): Owed => ({
  microUsd: owedAt(owed, nowMs) + microUsd,
  atMs: nowMs
})

/** A debt is paid first. */
export const afterPaid = (credit: Credit, paid: number, { payerMax }: CreditTerms, nowMs: number): Credit => {
  const owed = owedAt(credit.owed, nowMs)
  const back = Math.min(owed, paid)
  return {
    earned: Math.min(payerMax, credit.earned + paid - back),
    owed: owed === back ? nothingOwed : { microUsd: owed - back, atMs: nowMs }
  }
}

/** `beyond`: the part of it that the payer had not earned. */
export const afterLost = (credit: Credit, lost: number, nowMs: number) => {
  const own = Math.min(credit.earned, lost)
  const beyond = lost - own
  const owed = beyond === 0 ? credit.owed : owedMore(credit.owed, beyond, nowMs)
  return { credit: { earned: credit.earned - own, owed }, beyond }
}

export const beyondCredit = (unpaid: number, { earned }: Credit): number => Math.max(0, unpaid - earned)

export interface CreditAsked {
  readonly credit: Credit
  /** The payer's other unpaid calls. */
  readonly unpaid: number
  readonly price: number
}

export type CreditVerdict =
  /** `beyond`: the part of the price that counts toward the bound shared by all new payers. */
  { readonly _tag: "Given"; readonly beyond: number } | { readonly _tag: "Refused"; readonly retryAfterSeconds: number }

/**
 * A payer without anything unpaid or owed may make one call of any price; otherwise nothing expensive could ever be
 * sold to it.
 */
export const judgeCredit = (
  { credit, unpaid, price }: CreditAsked,
  { newPayerMax }: CreditTerms,
  nowMs: number
): CreditVerdict => {
  const after = beyondCredit(unpaid + price, credit)
  const beyond = after - beyondCredit(unpaid, credit)
  const owed = owedAt(credit.owed, nowMs)
  if (beyond === 0 || after + owed <= newPayerMax || (unpaid === 0 && owed === 0)) return { _tag: "Given", beyond }
  return {
    _tag: "Refused",
    retryAfterSeconds: unpaid > 0 ? soonSeconds : forgottenSeconds(credit.owed, newPayerMax - after, nowMs)
  }
}

// Most calls end within seconds, and which one is next is unknown.
const soonSeconds = 1
const waitSecondsMax = 3_600

const forgottenSeconds = ({ microUsd, atMs }: Owed, leaves: number, nowMs: number): number => {
  const forgottenAtMs = atMs + dayMs * (1 - Math.max(0, leaves) / microUsd)
  return Math.min(waitSecondsMax, Math.max(soonSeconds, Math.ceil((forgottenAtMs - nowMs) / 1_000)))
}

/** What a process knows about all new payers together. */
export interface NewPayersKnown {
  /** Their unpaid total, as last computed by the sweep. */
  readonly unpaid: number
  readonly owed: Owed
  /** What this process has granted since then. */
  readonly given: number
}

// Processes that verify at once see each other's new payers only with the next sum.
const shares = 4

/**
 * Whether a process may grant new payers this much more unpaid. It hands out a quarter of what is left between two
 * sums, or one call: four processes at once stay within the bound, but for a call each.
 */
export const hasRoom = (
  { unpaid, owed, given }: NewPayersKnown,
  beyond: number,
  { newPayersMax }: CreditTerms,
  nowMs: number
): boolean => {
  const taken = unpaid + owedAt(owed, nowMs)
  const left = newPayersMax - taken
  if (given + beyond <= left / shares) return true
  return given === 0 && (beyond <= left || taken === 0)
}

/** A finding of the doctor: what is missing, why it matters, and the command that mends it. */
import { type SoldBelowCost, soldBelowCostText } from "#gateway/contract"

export interface Finding {
  /** The check it comes from, as the report names it. */
  readonly check: string
  /**
   * `missing`: the fleet would not start, or not do its work. `unread`: the check could not be made. `advice`: the
   * fleet would work, but with a drawback.
   */
  readonly state: "missing" | "unread" | "advice"
  readonly what: string
  readonly why: string
  readonly mend: string
}

/** A finding before the name of its check is added. */
export type Told = Omit<Finding, "check" | "state"> & { readonly state?: Finding["state"] }

/** A model that may be sold at a loss; the fleet works all the same. */
export const lossTold = (loss: SoldBelowCost): Told => ({
  state: "advice",
  what: soldBelowCostText(loss),
  why: "exact charges Payments.OutputShare of the longest answer, and not what the answer has",
  mend: "offer upto before exact, or channels, which charge what was used; or raise OutputShare or the model's price\ndocs/payments.md#when-the-guess-loses-money"
})

/** Advice, like a passed check, leaves the exit code at 0. */
export const isIll = (findings: ReadonlyArray<Finding>) => findings.some(({ state }) => state !== "advice")

/** One line of the report for each check, with its findings below. */
export const report = (checks: ReadonlyArray<string>, findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  checks.flatMap((check) => {
    const own = findings.filter((finding) => finding.check === check)
    if (own.length === 0) return [`✓ ${check}`]
    return own.flatMap(({ state, what, why, mend }) => [
      `${state === "advice" ? "!" : "✗"} ${check}: ${what}`,
      ...labelled("why ", why),
      ...labelled("mend", mend)
    ])
  })

const labelled = (label: string, lines: string) =>
  lines.split("\n").map((line, index) => `    ${index === 0 ? label : "    "}  ${line}`)

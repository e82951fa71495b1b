/** What a check of the doctor found: what is missing, why it matters, and the command that mends it. */
export interface Finding {
  /** The check it comes from, as the report names it. */
  readonly check: string
  /** `missing`: the fleet would not come up, or not do its work. `unread`: nobody could look. `advice`: it would, but. */
  readonly state: "missing" | "unread" | "advice"
  readonly what: string
  readonly why: string
  readonly mend: string
}

/** What a check says, before it is told which it was. */
export type Told = Omit<Finding, "check" | "state"> & { readonly state?: Finding["state"] }

/** Advice and what is well leave the exit code at 0. */
export const isIll = (findings: ReadonlyArray<Finding>) => findings.some(({ state }) => state !== "advice")

/** One line of the report for each check, and what it found below. */
export const report = (checks: ReadonlyArray<string>, findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  checks.flatMap((check) => {
    const own = findings.filter((finding) => finding.check === check)
    if (own.length === 0) return [`✓ ${check}`]
    return own.flatMap(({ state, what, why, mend }) => [
      `${state === "advice" ? "!" : "✗"} ${check}: ${what}`,
      `    why   ${why}`,
      ...mend.split("\n").map((line, index) => `    ${index === 0 ? "mend" : "    "}  ${line}`)
    ])
  })

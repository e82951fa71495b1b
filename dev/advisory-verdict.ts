/**
 * The verdict on the output of `npm audit --json`. Pure. A registry without advisories gives no verdict, good or bad.
 */

export type AdvisoryVerdict =
  | { readonly _tag: "Clean"; readonly packages: number }
  | { readonly _tag: "Found"; readonly advisories: ReadonlyArray<string> }
  /** `reason`: in one line, without the registry's address. */
  | { readonly _tag: "Unknown"; readonly reason: string }

interface Advisory {
  readonly title?: string
  readonly url?: string
}

interface Report {
  readonly message?: string
  readonly error?: { readonly summary?: string }
  readonly metadata?: { readonly dependencies?: { readonly prod?: number; readonly total?: number } }
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly via: ReadonlyArray<Advisory | string> }>
  >
}

const severe = new Set(["high", "critical"])

/** `output`: npm's output, whatever its exit code. */
export const advisoryVerdict = (output: string): AdvisoryVerdict => {
  const report = parsed(output)
  if (report?.vulnerabilities === undefined) return { _tag: "Unknown", reason: reasonOf(report) }
  const found = Object.entries(report.vulnerabilities).filter(([, { severity }]) => severe.has(severity))
  if (found.length === 0) return { _tag: "Clean", packages: report.metadata?.dependencies?.total ?? 0 }
  return { _tag: "Found", advisories: found.map(([name, { severity, via }]) => `${name} (${severity}): ${why(via)}`) }
}

const parsed = (output: string): Report | undefined => {
  try {
    return JSON.parse(output) as Report
  } catch {
    return undefined
  }
}

const why = (via: ReadonlyArray<Advisory | string>) =>
  via
    .map((one) => (typeof one === "string" ? `by ${one}` : `${one.title ?? "an advisory"} ${one.url ?? ""}`.trim()))
    .join("; ")

const reasonOf = (report: Report | undefined) => {
  const said = report?.message ?? report?.error?.summary ?? "npm gave no report"
  return (
    said
      .replaceAll(/https?:\/\/\S+/gu, "the registry")
      .split("\n", 1)[0]
      ?.slice(0, 160) ?? ""
  )
}

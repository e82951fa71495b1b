/** Where a call's time went: means of what the roles and the proxy have measured themselves. */
import type { Passed } from "./timed-proxy.ts"

export interface Stage {
  readonly name: string
  readonly ms: number
  readonly count: number
}

const line = /^(\w+)_(sum|count)\{([^}]*)\} (\S+)$/gmu

const histograms = [
  "x402_rpc_seconds",
  "payment_verification_seconds",
  "gateway_payment_seconds",
  "gateway_upstream_seconds"
]

type Totals = ReadonlyMap<string, { readonly sum: number; readonly count: number }>

const totalsOf = (metrics: string): Totals => {
  const totals = new Map<string, { sum: number; count: number }>()
  for (const [, name = "", part, labels = "", value] of metrics.matchAll(line)) {
    if (!name.endsWith("_seconds")) continue
    // Which network, role and instance it was is the same for all here.
    const told = [...labels.matchAll(/(stage|method|operation|provider)="([^"]*)"/gu)].map(([, , text]) => text)
    const key = `${name.replace(/_seconds$/u, "")} ${told.join(" ")}`.trim()
    const total = totals.get(key) ?? { sum: 0, count: 0 }
    if (part === "sum") total.sum += Number(value)
    else total.count += Number(value)
    totals.set(key, total)
  }
  return totals
}

const isShown = (name: string) =>
  histograms.some((one) => name.startsWith(one.replace(/_seconds$/u, ""))) || /payment|till|settle|verif/u.test(name)

/** Of what was counted between two readings. */
export const stagesBetween = (before: string, after: string): ReadonlyArray<Stage> => {
  const earlier = totalsOf(before)
  return [...totalsOf(after)]
    .map(([name, { sum, count }]) => {
      const { sum: sumBefore, count: countBefore } = earlier.get(name) ?? { sum: 0, count: 0 }
      return { name, count: count - countBefore, ms: ((sum - sumBefore) / (count - countBefore)) * 1_000 }
    })
    .filter(({ name, count }) => count > 0 && isShown(name))
}

export const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()

/** What passed the proxy for one call: how long that took, and how many questions it were. */
export interface Outside {
  readonly ms: number
  readonly questions: number
}

const nothing: Outside = { ms: 0, questions: 0 }

/** By the authorization's nonce, and by the mark of the provider's call. */
export const outsideByKey = (passed: ReadonlyArray<Passed>) => {
  const sums = new Map<string, Outside>()
  for (const { key, ms } of passed) {
    const sum = sums.get(key) ?? nothing
    sums.set(key, { ms: sum.ms + ms, questions: sum.questions + 1 })
  }
  return sums
}

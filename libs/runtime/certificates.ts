/**
 * The checks of configured certificates: when they end, nobody gets a connection with them. All replicas have the same,
 * so they stay ready.
 */
import { X509Certificate } from "node:crypto"
import { Clock, Effect } from "effect"
import { check } from "./Checks.ts"
import { defineGauge, Metrics } from "./Metrics.ts"
import { readTextFile } from "./text-file.ts"

export const certificateEnds = defineGauge({
  name: "certificate_ends_in_seconds",
  help: "Until a configured certificate ends, by its file: of a chain the first to end, of authorities the last.",
  labels: ["file"]
})

export const certificateMetrics = [certificateEnds]

interface Lifetime {
  readonly fromMs: number
  readonly toMs: number
}

const dayMs = 86_400_000
// Time for a person to get another one. Those that live shorter are renewed by programs, long before this part is left.
const leftMsMin = 14 * dayMs
const partLeftMin = 1 / 4
// Files are replaced while a process runs.
const pauseMs = 60_000

/** Of a chain all are needed, of authorities any is enough. */
type Kind = "chain" | "authorities"

export const checkCertificate = Effect.fnUntraced(function* (file: string, kind: Kind) {
  const ends = (yield* Metrics).gauge(certificateEnds)
  const run = Effect.gen(function* () {
    const pem = yield* Effect.mapError(readTextFile(file), ({ message }) => message)
    const all = yield* Effect.try({ try: () => lifetimesIn(pem), catch: () => `${file} is no certificate as PEM` })
    const one = decisive(all, kind)
    if (one === undefined) return yield* Effect.fail(`${file} has no certificate as PEM`)
    const nowMs = yield* Clock.currentTimeMillis
    ends.set({ file }, Math.round((one.toMs - nowMs) / 1_000))
    const fault = faultOfEnd(one, nowMs)
    if (fault !== undefined) return yield* Effect.fail(fault)
  })
  yield* check({ name: "certificate", subject: file, run, pauseMs: () => pauseMs })
})

export const decisive = (all: ReadonlyArray<Lifetime>, kind: Kind): Lifetime | undefined =>
  all.toSorted((left, right) => left.toMs - right.toMs).at(kind === "chain" ? 0 : -1)

/** What is wrong with the end of a chain that is no file, by the time of asking. */
export const endOfChain = (pem: string) => {
  const one = decisive(lifetimesIn(pem), "chain")
  return (nowMs: number) => (one === undefined ? undefined : faultOfEnd(one, nowMs))
}

const lifetimesIn = (pem: string): ReadonlyArray<Lifetime> =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []).map((text) => {
    const { validFromDate, validToDate } = new X509Certificate(text)
    return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() }
  })

/** Pure. The reason stays the same for a day. */
export const faultOfEnd = ({ fromMs, toMs }: Lifetime, nowMs: number): string | undefined => {
  const leftMs = toMs - nowMs
  const when = new Date(toMs).toISOString()
  if (leftMs <= 0) return `it ended at ${when}`
  if (leftMs >= Math.min(leftMsMin, partLeftMin * (toMs - fromMs))) return undefined
  return `it ends in ${Math.floor(leftMs / dayMs)} days, at ${when}`
}

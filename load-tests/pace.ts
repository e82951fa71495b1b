/**
 * The company that a figure was measured in: how fast a processor of this machine is, and how much of it the machine
 * under this one keeps for others. Both change by times within an hour where a machine is shared.
 */
import { readFileSync } from "node:fs"

const steps = 10_000_000

/** Milliseconds for a loop of ten million additions. */
export const paceMs = () => {
  const from = performance.now()
  let sum = 0
  for (let step = 0; step < steps; step++) sum += step % 7
  // Used, so that the loop is not left out.
  if (sum < 0) throw new Error("additions went wrong")
  return performance.now() - from
}

export interface ProcessorTime {
  readonly worked: number
  /** Wanted here, and given to others. */
  readonly stolen: number
}

const linux = "/proc/stat"

/** Of all processors since the start, in the kernel's own unit; undefined where the kernel does not tell. */
export const processorTime = (): ProcessorTime | undefined => {
  if (process.platform !== "linux") return undefined
  const fields = readFileSync(linux, "utf8").split("\n", 1)[0]?.trim().split(/\s+/u).slice(1).map(Number) ?? []
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = fields
  return { worked: user + nice + system + irq + softirq, stolen }
}

/** Percent of what was wanted in between. */
export const stolenPercent = (from: ProcessorTime | undefined, to: ProcessorTime | undefined) => {
  if (from === undefined || to === undefined) return Number.NaN
  const stolen = to.stolen - from.stolen
  return (stolen / Math.max(1, to.worked - from.worked + stolen)) * 100
}

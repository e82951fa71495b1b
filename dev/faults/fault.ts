/** A fault of a running fleet and its mend: what makes a condition true on real parts, and what ends it. */
import type { FaultFleet } from "./fleet.ts"

export interface Fault {
  /** The name of the condition that it makes true. */
  readonly condition: string
  /** Others that it makes true as well. */
  readonly also?: ReadonlyArray<string>
  /** Others that it makes true, and that are shown below it. */
  readonly effects?: ReadonlyArray<string>
  /** What happens, for people. */
  readonly what: string
  /** It fills the fleet's own disk, where there is one. */
  readonly needsDisk?: true
  /** Why it does not stand long enough at a time to be held against every view; it is played by `load faults` alone. */
  readonly wavers?: string
  /** Ends when the fault is there; the mend's end is the moment at which it is gone. */
  readonly begin: (fleet: FaultFleet) => Promise<Mend>
  /** Why it is seen, or gone, later than half a minute after. */
  readonly slow?: { readonly seenMs?: number; readonly goneMs?: number; readonly why: string }
}

export type Mend = () => Promise<unknown>

/** One after the other. */
export const all =
  (...mends: ReadonlyArray<Mend>): Mend =>
  async () => {
    for (const mend of mends) await mend()
  }

/** Calls again and again until it is ended. */
export const repeatedly = (everyMs: number, act: () => unknown): Mend => {
  const timer = setInterval(() => void Promise.resolve(act()).catch(() => undefined), everyMs)
  void Promise.resolve(act()).catch(() => undefined)
  return async () => clearInterval(timer)
}

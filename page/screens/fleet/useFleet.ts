/** The fleet's newest frame, one a second, and the totals of the last minutes for their curves. */
import { useState } from "react"
import type { Answer } from "../../api/client.ts"
import { type LiveState, useLive } from "../../api/live.ts"

export type Frame = Answer<"GET", "/fleet">

interface Seen {
  readonly frame: Frame | undefined
  readonly past: ReadonlyArray<Frame["totals"]>
}

/** Two minutes are enough to see which way it goes. */
const pastMax = 120

export const useFleet = (): Seen & { readonly state: LiveState } => {
  const [seen, setSeen] = useState<Seen>({ frame: undefined, past: [] })
  const state = useLive<Frame>({
    address: "/fleet/live",
    onBatch: (batch) => {
      const rated = batch.filter(({ windowSeconds }) => windowSeconds > 0)
      setSeen(({ frame, past }) => ({
        frame: batch.at(-1) ?? frame,
        past: [...past, ...rated.map(({ totals }) => totals)].slice(-pastMax)
      }))
    }
  })
  return { ...seen, state }
}

/** Full windows that were seen a moment ago, so that a flood is refused without asking again. Bounded. */
import { Option } from "effect"
import { refusedUntil, type SharedRefused } from "./rate-log.ts"

// A place that was given back elsewhere is found after this.
const believedMs = 1_000
const keysMax = 10_000

export const rememberedRefusals = (limit: number) => {
  const full = new Map<string, { readonly resetAtMs: number; readonly believedUntilMs: number }>()
  return {
    remember: (key: string, { resetAtMs }: SharedRefused, nowMs: number) => {
      full.delete(key)
      for (const oldest of full.keys()) {
        if (full.size < keysMax) break
        full.delete(oldest)
      }
      full.set(key, { resetAtMs, believedUntilMs: Math.min(resetAtMs, nowMs + believedMs) })
    },
    find: (key: string, nowMs: number): Option.Option<SharedRefused> => {
      const known = full.get(key)
      return known !== undefined && nowMs < known.believedUntilMs
        ? Option.some(refusedUntil(limit, known.resetAtMs, nowMs))
        : Option.none()
    },
    forget: (key: string) => full.delete(key)
  }
}

/**
 * The quota of an agent: used up until it is reset, and the advice to spend what is banked of it now. The advice is
 * told once for each optimal window, and after one no other for a while; that a quota was hit is told by the item that
 * met it.
 */
import { type Deciders, decided, type Evolvers, nothing } from "./decisions.ts"

export const quotaDeciders = {
  HitQuota: ({ quota }, { occurredAtMs: hitAtMs, resetAtMs }, { atMs }) => {
    if (resetAtMs !== null && resetAtMs <= atMs) return nothing
    const isKnown = quota !== null && (quota.resetAtMs === resetAtMs || quota.hitAtMs > hitAtMs)
    return isKnown ? nothing : decided({ _tag: "QuotaHit", hitAtMs, resetAtMs })
  },
  ResetQuota: ({ quota }, { isForced }, { atMs }) => {
    if (quota === null) return nothing
    return isForced || (quota.resetAtMs !== null && quota.resetAtMs <= atMs) ? decided({ _tag: "QuotaReset" }) : nothing
  },
  AdviseSpending: ({ advice }, { _tag, cooldownMs, ...advised }, { atMs }) => {
    if (advised.optimalUntilMs <= atMs) return nothing
    if (advice !== null && (advice.optimalUntilMs === advised.optimalUntilMs || atMs < advice.quietUntilMs)) {
      return nothing
    }
    return decided({ _tag: "SpendingAdvised", ...advised, quietUntilMs: atMs + cooldownMs })
  }
} satisfies Partial<Deciders>

export const quotaEvolvers = {
  QuotaHit: (_agent, { hitAtMs, resetAtMs }) => ({ quota: { hitAtMs, resetAtMs } }),
  QuotaReset: () => ({ quota: null }),
  SpendingAdvised: (_agent, { optimalUntilMs, quietUntilMs }) => ({ advice: { optimalUntilMs, quietUntilMs } })
} satisfies Partial<Evolvers>

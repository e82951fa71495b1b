/** Any command of an agent, in any state; times lie around now. */
import type { AgentCommand } from "#pipeline/contract"
import type { Dice } from "../../../support/random-ssml.ts"
import { startMs } from "../entity-at-work.ts"
import { advice, failed, failedFast, item, passed, pause, restore, resume } from "./agent-at-work.ts"

export const randomCommand = ({ below, of }: Dice, nowMs: number): AgentCommand => {
  const agoMs = nowMs - startMs - below(3_000)
  const seenMs = Math.max(0, agoMs)
  const restored = { outageStartedAtMs: of([null, startMs]), restoredAtMs: startMs + seenMs }
  return of<AgentCommand>([
    pause(of([null, nowMs + below(5_000)])),
    resume,
    { _tag: "ExpirePause" },
    failed(seenMs, { item: of([null, item]), epoch: of([null, "e1", "e2"]), reason: of(["auth", "timeout"]) }),
    failedFast(seenMs, { failuresMax: 1 + below(4), item: of([null, item]) }),
    failedFast(seenMs, { failuresMax: 50 }),
    passed(seenMs),
    restore(of([null, startMs])),
    { _tag: "CompleteRestoreSweep", ...restored, requeued: below(3), skipped: below(3) },
    { _tag: "FailSession", operation: "close", workItemId: "w1", sessionId: "s1", error: "gone" },
    { _tag: "HitQuota", occurredAtMs: startMs + seenMs, resetAtMs: of([null, nowMs + below(9_000)]) },
    { _tag: "ResetQuota", isForced: below(4) === 0 },
    advice(seenMs + below(5) * 1_000, { cooldownMs: below(4_000) })
  ])
}

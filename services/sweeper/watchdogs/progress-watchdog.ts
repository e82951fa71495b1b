/** The worker-progress watchdog: hands back single items that do not move, although their runner lives. */
import { Effect } from "effect"
import { Views } from "#actors"
import { Configuration } from "#runtime"
import { Commander } from "../Commander.ts"
import type { Sweep } from "../sweep.ts"
import { itemsInHand, silenceOf } from "./items-in-hand.ts"
import { silentItems } from "./silence.ts"
import { watchful } from "./watchful.ts"

export const progressWatchdog: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(
  function* () {
    const { Sweeper, Pipeline } = yield* Configuration
    const views = yield* Views
    const silence = silenceOf(Pipeline)
    return watchful({
      name: "progress",
      everyMs: Sweeper.WatchdogSeconds * 1_000,
      views,
      commander: yield* Commander,
      judge: () => (nowMs, watchingSinceMs) =>
        silentItems(itemsInHand(views, nowMs), { nowMs, watchingSinceMs, ...silence }).stuck
    })
  }
)

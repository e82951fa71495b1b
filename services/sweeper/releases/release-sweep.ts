/** The release sweep: brings releases up to how their linked items stand. */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import { Configuration } from "#runtime"
import { Commander, findingsOf } from "../Commander.ts"
import type { Sweep } from "../sweep.ts"
import { readReleases, readWorkItems } from "../view-summaries.ts"
import { untoldEnds } from "./untold-ends.ts"

// Whoever follows the log does it within moments; a minute later it was overlooked.
const patienceMsMax = 60_000

export const releaseSweep: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper } = yield* Configuration
  const commander = yield* Commander
  const views = yield* Views
  const everyMs = Sweeper.ReleaseSeconds * 1_000

  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const releases = readReleases(views.list({ entity: "release", states: ["open", "closed", "in_review", "failed"] }))
    const known = new Set(releases.map(({ id }) => id))
    const linked = views.list({ entity: "workitem" }).filter(({ summary }) => isOf(known, summary["releaseId"]))
    const patienceMs = Math.min(patienceMsMax, everyMs)
    const commands = untoldEnds({ releases, items: readWorkItems(linked), nowMs, patienceMs })
    return findingsOf(yield* commander.send("releases", commands))
  })
  return { name: "releases", everyMs, begin: Effect.succeed(sweep) }
})

const isOf = (known: ReadonlySet<string>, releaseId: unknown) => typeof releaseId === "string" && known.has(releaseId)

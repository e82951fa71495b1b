/** The endless loops of the role: the log's events, its views, its follow-ups, and the reports that feed it. */
import { randomUUID } from "node:crypto"
import { Effect, Latch, Layer } from "effect"
import { announceRelay, entityViewer, projectViews } from "#actor"
import { supervise } from "#runtime"
import { agentViewer } from "./agent/index.ts"
import { FollowUps } from "./follow-ups/FollowUps.ts"
import { projectViewer } from "./project/index.ts"
import { queueViewer } from "./queue/index.ts"
import { releaseViewer } from "./release/index.ts"
import { ReportIntake } from "./reports/ReportIntake.ts"
import { workItemViewer } from "./work-item/index.ts"

const viewers = [
  entityViewer(workItemViewer),
  entityViewer(releaseViewer),
  entityViewer(projectViewer),
  entityViewer(agentViewer),
  entityViewer(queueViewer)
]

/** This process, as leases know it. */
const holder = randomUUID()

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const started = yield* Latch.make()
    yield* Effect.forkScoped(supervise("announce", yield* announceRelay(started.open)))
    yield* started.await
  })
)

const views = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Effect.forkScoped(supervise("views", yield* projectViews({ holder, viewers })))
  })
)

export const loops = Layer.mergeAll(announce, views, FollowUps.layer(holder), ReportIntake.layer(holder))

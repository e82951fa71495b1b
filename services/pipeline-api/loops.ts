/** The endless loops of the role: the log's events, its views, its follow-ups, and the reports that feed it. */
import { randomUUID } from "node:crypto"
import { Effect, Latch, Layer } from "effect"
import { eventRelay, entityProjection, projectViews } from "#actors"
import { supervise } from "#runtime"
import { agentProjection, projectProjection, queueProjection, releaseProjection, workItemProjection } from "#pipeline"
import { FollowUps } from "./follow-ups/FollowUps.ts"
import { ReportIntake } from "./reports/ReportIntake.ts"

const projections = [
  entityProjection(workItemProjection),
  entityProjection(releaseProjection),
  entityProjection(projectProjection),
  entityProjection(agentProjection),
  entityProjection(queueProjection)
]

/** This process, as leases know it. */
const holder = randomUUID()

const events = Layer.effectDiscard(
  Effect.gen(function* () {
    const started = yield* Latch.make()
    yield* Effect.forkScoped(supervise("announce", yield* eventRelay(started.open)))
    yield* started.await
  })
)

const views = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Effect.forkScoped(supervise("views", yield* projectViews({ holder, projections })))
  })
)

export const loops = Layer.mergeAll(events, views, FollowUps.layer(holder), ReportIntake.layer(holder))

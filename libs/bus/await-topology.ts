/**
 * Waits until streams that somebody else owns are as declared. Meanwhile the role is alive and not ready, and says
 * what differs: in readiness, in its log, and how much in its metrics. So roles may come before their streams,
 * and a role of the next release waits for its wider ones while the one before serves. It changes nothing.
 */
import { Effect, Result } from "effect"
import { Health, Metrics, Role } from "#runtime"
import { applyTopology } from "./apply-topology.ts"
import type { Topology } from "./declarations.ts"
import { topologyDifferences } from "./metrics.ts"
import { waiting } from "./waiting.ts"

// Some thirty short questions each time; whoever mends a stream looks on for that long.
const lookAgainAfter = "3 seconds"

/** The readiness that it adds stays until the scope ends. */
export const awaitTopology = Effect.fn("awaitTopology")(function* (wanted: Topology, replicas: number) {
  const differing = (yield* Metrics).gauge(topologyDifferences)
  let trouble: string | undefined = "the broker's streams were not looked at yet"
  yield* (yield* Health).readiness(
    `topology ${yield* Role}`,
    Effect.suspend(() => (trouble === undefined ? Effect.void : Effect.fail(trouble)))
  )
  const say = waiting("waiting for the broker's streams", (reason) => void (trouble = reason))
  while (true) {
    const looked = yield* Effect.result(applyTopology(wanted, { mode: "verify", replicas }))
    if (Result.isSuccess(looked)) break
    const { failure } = looked
    if (failure._tag === "TopologyMismatch") differing.set({}, failure.differences.length)
    yield* say(failure.message)
    yield* Effect.sleep(lookAgainAfter)
  }
  trouble = undefined
  differing.set({}, 0)
})

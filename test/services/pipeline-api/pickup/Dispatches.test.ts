import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Actors, type CommandAddress, PreconditionFailed } from "#actors"
import type { PickupQuestion } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Answers, Commands } from "../../../../services/pipeline-api/Commands.ts"
import { History } from "../../../../services/pipeline-api/History.ts"
import { Dispatches } from "../../../../services/pipeline-api/pickup/Dispatches.ts"
import { InFlightCount } from "../../../../services/pipeline-api/pickup/InFlightCount.ts"
import { Ready } from "../../../../services/pipeline-api/pickup/Ready.ts"
import { projectWith } from "../../../libs/pipeline/project/project-at-work.ts"

const question = {
  pickupId: "pickup-1",
  agent: "smith",
  agentInstanceId: null,
  runner: "runner-1",
  sandboxId: null,
  phases: ["work"],
  model: null
} as unknown as PickupQuestion
const item = { id: "item-1", projectId: "garden", phase: "work" }
const sequence = 5

describe("a dispatch", () => {
  it.effect("is made on the condition that its project has not changed since it was seen unpaused", () =>
    Effect.gen(function* () {
      const asked: Array<CommandAddress> = []
      const project = projectWith().state()
      const commands = {
        read: () => Effect.succeed(Option.some({ state: project, sequence })),
        // Between the look and the write somebody pauses the project.
        run: (entity: string, address: CommandAddress) => {
          asked.push(address)
          return Effect.fail(new PreconditionFailed({ entity, id: address.id }))
        }
      }
      const ready = {
        candidates: () => [item],
        isFree: () => true,
        claim: () => ({ done: () => undefined }),
        inFlight: () => ({ all: 0, byAgent: 0 })
      }
      const stub = <I>(service: I) => service as never
      const layer = Dispatches.layer.pipe(
        Layer.provide(
          Layer.mergeAll(
            Configuration.layerOf({}),
            Layer.succeed(Commands, stub(commands)),
            Layer.succeed(InFlightCount, stub({})),
            Layer.succeed(Answers, stub({})),
            Layer.succeed(History, stub({})),
            Layer.succeed(Ready, stub(ready)),
            Layer.succeed(Actors, stub({}))
          )
        )
      )
      const queue = { entity: "queue", id: "global", sequence: 3 }
      const given = yield* Effect.flatMap(Dispatches, ({ first }) =>
        first(question, { names: ["smith"], phases: ["work"] }, [queue])
      ).pipe(Effect.provide(layer))
      assert.deepInclude(given, { _tag: "NotGiven", why: "again" })
      assert.deepStrictEqual(
        asked.map(({ preconditions }) => preconditions),
        [[queue, { entity: "project", id: "garden", sequence }]]
      )
    })
  )
})

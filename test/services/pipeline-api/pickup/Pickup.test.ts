import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Kv, StreamReader } from "#bus"
import type { PickupQuestion } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { Commands } from "../../../../services/pipeline-api/Commands.ts"
import { Dispatches } from "../../../../services/pipeline-api/pickup/Dispatches.ts"
import { FullDisks } from "../../../../services/pipeline-api/pickup/FullDisks.ts"
import { Pickup } from "../../../../services/pipeline-api/pickup/Pickup.ts"
import { Ready } from "../../../../services/pipeline-api/pickup/Ready.ts"
import { Routing } from "../../../../services/pipeline-api/Routing.ts"

const question = {
  pickupId: "pickup-1",
  agent: "owl",
  agentInstanceId: "a",
  runner: "runner-1",
  sandboxId: null,
  phases: ["work"],
  model: null,
  disks: [],
  waitMs: 0
} as unknown as PickupQuestion

const stub = <I>(service: I) => service as never

/** What an instance that is paused is answered, and the commands that follow; `kind`: how its kind stands. */
const askedBy = Effect.fnUntraced(function* (kind: "Paused" | undefined) {
  const commands: Array<string> = []
  const hold = (instance: string | null) => ({
    hold: instance === null ? kind : "Paused",
    reason: "moult",
    preconditions: []
  })
  const layer = Pickup.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Configuration.layerOf({ Agents: { Kinds: [{ Kind: "owl", Instances: ["a", "b"] }] } }),
        Metrics.layerTest,
        Layer.succeed(
          Commands,
          stub({
            read: () => Effect.succeedNone,
            run: (_: string, { id }: { readonly id: string }, { _tag }: { readonly _tag: string }) =>
              Effect.sync(() => commands.push(`${_tag} ${id}`))
          })
        ),
        Layer.succeed(
          Routing,
          stub({ holdOn: (_: string, instance: string | null) => Effect.succeed(hold(instance)) })
        ),
        Layer.succeed(Dispatches, stub({ again: () => Effect.undefined, first: () => Effect.die("it is paused") })),
        Layer.succeed(Ready, stub({ candidates: () => [{ id: "item-1", projectId: "garden", phase: "work" }] })),
        Layer.succeed(FullDisks, stub({})),
        Layer.succeed(StreamReader, stub({ bounds: () => Effect.die("nothing is behind") })),
        Layer.succeed(Kv, stub({ open: () => Effect.succeed({}) }))
      )
    )
  )
  const answer = yield* Effect.flatMap(Pickup, ({ next }) => next(question)).pipe(Effect.provide(layer))
  return { answer, commands }
})

describe("an instance that is paused and asks for work", () => {
  it.effect("gets none, and leaves the items of its kind to the other instances", () =>
    Effect.gen(function* () {
      const { answer, commands } = yield* askedBy(undefined)
      assert.deepInclude(answer, { _tag: "Nothing", why: "agent-paused" })
      assert.deepStrictEqual(commands, [])
    })
  )

  it.effect("parks them when its whole kind is paused", () =>
    Effect.gen(function* () {
      const { answer, commands } = yield* askedBy("Paused")
      assert.deepInclude(answer, { _tag: "Nothing", why: "agent-paused" })
      assert.deepStrictEqual(commands, ["ParkForAgent item-1"])
    })
  )
})

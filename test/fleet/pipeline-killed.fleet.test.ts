import { randomInt } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Begin } from "../services/pipeline-api/kills/killed-life.ts"
import { diceFor, lifeWith, randomCut, untilDead } from "../services/pipeline-api/kills/killed-lives.ts"
import { startRole } from "../support/role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

const kills = 6

/** A process of its own; its end is SIGKILL. */
const processOf: Begin = (url) => {
  const role = startRole("pipeline-api", {
    configuration: { Bus: { Url: url }, PipelineApi: { Port: 0 }, Telemetry: { Port: 0, LogLevel: "Error" } }
  })
  return {
    begun: Effect.promise(async () => {
      const { status } = await role
      await until(() => status("/readyz"), { is: 200, withinMs: startWithinMs })
    }),
    end: Effect.promise(async () => {
      const { signal, ended } = await role
      signal("SIGKILL")
      assert.strictEqual(await ended, "SIGKILL")
    })
  }
}

describe("processes of pipeline-api, each killed with SIGKILL at a message of its own", () => {
  const seed = randomInt(2 ** 31)

  it.live(
    `leave no state without its event, no event without its state, and no number that goes back (seed ${seed})`,
    () => {
      const dice = diceFor(seed)
      return lifeWith(
        seed,
        () => processOf,
        (life) =>
          Effect.gen(function* () {
            for (let kill = 0; kill < kills; kill++) {
              yield* life.start(randomCut(dice))
              yield* untilDead(life, 12)
            }
          })
      )
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { insideHere } from "./killed-life.ts"
import { diceFor, lifeWith, randomCut, sides, steps, untilDead } from "./killed-lives.ts"

const wavesMax = 60

describe("a pipeline that is killed between any two steps", () => {
  it.live("leaves no state without its event, no event without its state, and no number that goes back", () =>
    lifeWith(1, insideHere, (life) =>
      Effect.gen(function* () {
        for (const [name, subject] of Object.entries(steps)) {
          for (const side of sides) {
            yield* life.start({ subject, nth: side === "before" ? 1 : 2, side })
            assert.isTrue(yield* untilDead(life, wavesMax), `nothing came to ${side} ${name}`)
          }
        }
      })
    )
  )

  it.live.prop(
    "does so for kills at any step, and for any commands",
    [Schema.Int],
    ([seed]) => {
      const dice = diceFor(seed + 1)
      return lifeWith(seed, insideHere, (life) =>
        Effect.gen(function* () {
          for (let kill = 0; kill < 6; kill++) {
            yield* life.start(randomCut(dice))
            yield* untilDead(life, 8)
          }
        })
      )
    },
    { arbitrary: { runs: 3, maxShrinks: 0 } }
  )
})

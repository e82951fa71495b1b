import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type BusError, BusRefused, BusUnavailable, type Nats } from "#bus"
import { makeConsumer } from "../../../libs/bus/consumers.ts"

const declaration = { stream: "LOG", durable: "a", filterSubjects: ["log.>"], unackedMax: 1, ackWaitMs: 5_000 }

/** What is asked of a broker that answers the making of a consumer so. */
const asked = (failure: BusError | undefined) => {
  const questions: Array<string> = []
  const nats = {
    use: (operation: string) =>
      Effect.suspend(() => {
        questions.push(operation)
        return failure === undefined || questions.length > 1 ? Effect.void : Effect.fail(failure)
      })
  } as unknown as Nats["Service"]
  return Effect.map(Effect.exit(makeConsumer(nats, declaration)), ({ _tag }) => [_tag, ...questions])
}

describe("a consumer that is declared", () => {
  const refused = (code: number) => new BusRefused({ operation: "ensure", detail: "no", code })
  it.effect("is made, and changed where it is there and differs; another refusal is one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(undefined), ["Success", "ensure consumer a"])
      assert.deepStrictEqual(yield* asked(refused(10_148)), ["Success", "ensure consumer a", "change consumer a"])
      assert.deepStrictEqual(yield* asked(refused(10_149)), ["Failure", "ensure consumer a"])
      const away = new BusUnavailable({ operation: "ensure", detail: "no answer in time" })
      assert.deepStrictEqual(yield* asked(away), ["Failure", "ensure consumer a"])
    })
  )
})

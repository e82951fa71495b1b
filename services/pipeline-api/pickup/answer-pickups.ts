/**
 * Questions of runners over the bus, one queue group over all replicas. `pickup.next.<agent kind>` asks for work: a
 * runner can wait for an answer, in a queue of bounded length, and a drain tells it at once to ask another replica.
 * `pickup.held` asks whether the runner still holds its item. It is answered from the leader's state, so the answer
 * never contradicts a cancel that was acknowledged before.
 */
import { Effect, Option } from "effect"
import { jsonCodec, Requests } from "#bus"
import { HeldAnswer, HeldQuestion, PickupAnswer, PickupQuestion } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { subjects } from "#base"
import { Drain } from "#runtime"
import { Commands } from "../Commands.ts"
import { Pickup } from "./Pickup.ts"

// Pickups in work, beside those that wait: a dispatch takes milliseconds.
const pickupsAtOnceMax = 256

/** `pickup.next.<agent kind>`: answers while the scope is open. */
export const answerPickups = Effect.gen(function* () {
  const requests = yield* Requests
  const { next, stop } = yield* Pickup
  const { PickupWaitersMax } = (yield* Configuration).PipelineApi
  yield* requests.answer({
    subject: subjects.pickupNextAll,
    queueGroup: "pipeline-api",
    question: jsonCodec(PickupQuestion),
    answer: jsonCodec(PickupAnswer),
    concurrency: PickupWaitersMax + pickupsAtOnceMax,
    handler: next
  })
  yield* (yield* Drain).register("pickup", Effect.as(stop, { finished: 0, handedBack: 0 }))
})

// One read each. A thousand runners ask a few hundred times a second.
const heldAtOnceMax = 256
const outageRetryMs = 2_000

/** `pickup.held`: answers while the scope is open. */
export const answerHeld = Effect.gen(function* () {
  const requests = yield* Requests
  const commands = yield* Commands

  const stateOf = Effect.fnUntraced(function* ({ workItemId, dispatchId }: HeldQuestion) {
    const item = Option.getOrNull(Option.map(yield* commands.read("workitem", workItemId), ({ state }) => state))
    return item?.dispatch?.dispatchId === dispatchId
      ? HeldAnswer.cases.Held.make({})
      : HeldAnswer.cases.Over.make({ state: item?.state ?? null })
  })
  yield* requests.answer({
    subject: subjects.pickupHeld,
    queueGroup: "pipeline-api",
    question: jsonCodec(HeldQuestion),
    answer: jsonCodec(HeldAnswer),
    concurrency: heldAtOnceMax,
    handler: (asked) =>
      Effect.catch(stateOf(asked), (error) =>
        Effect.as(
          Effect.logWarning("a runner could not be told whether it holds its item", error),
          HeldAnswer.cases.Busy.make({ retryAfterMs: outageRetryMs })
        )
      )
  })
})

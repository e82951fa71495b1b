/**
 * Runners that ask for something to do, `pickup.next.<agent kind>`, one queue group over all replicas. A runner may
 * wait for an answer; how many do is bounded where they wait. A drain tells them at once to ask somebody else.
 */
import { Effect } from "effect"
import { jsonCodec, Requests } from "#bus"
import { PickupAnswer, PickupQuestion, subjects } from "#contracts"
import { Configuration, Drain } from "#runtime"
import { Pickup } from "../pickup/Pickup.ts"

const question = jsonCodec(PickupQuestion)
const answer = jsonCodec(PickupAnswer)
// Beside those that wait: a dispatch takes milliseconds.
const atWorkMax = 256

/** Answers for the life of the scope. */
export const answerPickups = Effect.gen(function* () {
  const requests = yield* Requests
  const { next, stop } = yield* Pickup
  const { PickupWaitersMax } = (yield* Configuration).PipelineApi
  yield* requests.answer({
    subject: subjects.pickupNextAll,
    queueGroup: "pipeline-api",
    question,
    answer,
    concurrency: PickupWaitersMax + atWorkMax,
    handler: next
  })
  yield* (yield* Drain).register("pickup", Effect.as(stop, { finished: 0, handedBack: 0 }))
})

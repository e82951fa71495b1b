/**
 * Runners that ask whether what they work on is still theirs, `pickup.held`, one queue group over all replicas. Answered
 * as the leader has the item: whoever was told that a cancel is done is not contradicted a moment later.
 */
import { Effect, Option } from "effect"
import { jsonCodec, Requests } from "#bus"
import { HeldAnswer, HeldQuestion, subjects } from "#contracts"
import { Commands } from "../Commands.ts"

const question = jsonCodec(HeldQuestion)
const answer = jsonCodec(HeldAnswer)
// One read each. A thousand runners ask a few hundred times a second.
const atWorkMax = 256
const awayMs = 2_000

/** Answers for the life of the scope. */
export const answerHeld = Effect.gen(function* () {
  const requests = yield* Requests
  const commands = yield* Commands

  const standing = Effect.fnUntraced(function* ({ workItemId, dispatchId }: HeldQuestion) {
    const item = Option.getOrNull(Option.map(yield* commands.read("workitem", workItemId), ({ state }) => state))
    return item?.dispatch?.dispatchId === dispatchId
      ? HeldAnswer.cases.Held.make({})
      : HeldAnswer.cases.Over.make({ state: item?.state ?? null })
  })
  yield* requests.answer({
    subject: subjects.pickupHeld,
    queueGroup: "pipeline-api",
    question,
    answer,
    concurrency: atWorkMax,
    handler: (asked) =>
      Effect.catch(standing(asked), (error) =>
        Effect.as(
          Effect.logWarning("a runner could not be told whether it holds its item", error),
          HeldAnswer.cases.Busy.make({ retryAfterMs: awayMs })
        )
      )
  })
})

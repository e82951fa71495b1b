/**
 * Ends when the item is no longer this runner's: it was cancelled, or given to another. It asks while a phase is at
 * work; without an answer the work goes on.
 */
import { Effect } from "effect"
import { jsonCodec, Requests } from "#bus"
import { HeldAnswer, HeldQuestion, type PickupDispatch } from "#pipeline/contract"
import { subjects } from "#base"

// A cancel is noticed within this, or within a report's interval if that is shorter.
const askEveryMsMax = 5_000

const options = {
  subject: subjects.pickupHeld,
  question: jsonCodec(HeldQuestion),
  answer: jsonCodec(HeldAnswer),
  timeoutMs: 2_000
}

/** Returns the item's state; null when the item no longer exists. */
export const untilOver = Effect.fnUntraced(function* ({ dispatchId, workItem, progressEveryMs }: PickupDispatch) {
  const requests = yield* Requests
  const question: HeldQuestion = { workItemId: workItem.id, dispatchId }
  while (true) {
    yield* Effect.sleep(Math.min(progressEveryMs, askEveryMsMax))
    const answer = yield* Effect.option(requests.ask(options, question))
    if (answer._tag === "Some" && answer.value._tag === "Over") return answer.value.state
  }
})

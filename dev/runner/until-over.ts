/**
 * Ends when the item is not this runner's any more: it was cancelled, or given to somebody else. Asked while a phase is
 * at work; whoever gets no answer goes on with it.
 */
import { Effect } from "effect"
import { jsonCodec, Requests } from "#bus"
import { HeldAnswer, HeldQuestion, type PickupDispatch, subjects } from "#contracts"

// A cancel is heard of within this, or within a report's time where that is shorter.
const askEveryMsMax = 5_000

const options = {
  subject: subjects.pickupHeld,
  question: jsonCodec(HeldQuestion),
  answer: jsonCodec(HeldAnswer),
  timeoutMs: 2_000
}

/** Answers with the state that the item is in; null: there is no such item any more. */
export const untilOver = Effect.fnUntraced(function* ({ dispatchId, workItem, progressEveryMs }: PickupDispatch) {
  const requests = yield* Requests
  const question: HeldQuestion = { workItemId: workItem.id, dispatchId }
  while (true) {
    yield* Effect.sleep(Math.min(progressEveryMs, askEveryMsMax))
    const answer = yield* Effect.option(requests.ask(options, question))
    if (answer._tag === "Some" && answer.value._tag === "Over") return answer.value.state
  }
})

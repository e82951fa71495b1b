/**
 * Asks on `pickup.next.<agent kind>` for work, until there is some. A runner that got no answer asks again with the
 * same `pickupId`, and gets what it was given the first time. A question in progress is not interrupted: the fleet
 * would count its answer as in hand although no runner has it.
 */
import { Effect, Fiber } from "effect"
import { type BusError, jsonCodec, Requests } from "#bus"
import { PickupAnswer, type PickupDispatch, PickupQuestion } from "#pipeline/contract"
import { subjects } from "#base"
import { freeBytes } from "./free-bytes.ts"
import type { RunnerOptions } from "./options.ts"

const questionCodec = jsonCodec(PickupQuestion)
const answerCodec = jsonCodec(PickupAnswer)
// More than the fleet may take to answer a waiting runner.
const patienceMs = 10_000
const retryAfterMs = 250
const retryAfterMsMin = 10

export const askForWork = Effect.fn("askForWork")(function* (
  agent: string,
  options: RunnerOptions
): Effect.fn.Return<PickupDispatch, never, Requests> {
  const requests = yield* Requests
  let pickupId = crypto.randomUUID()
  const ask = Effect.fnUntraced(function* () {
    const question: PickupQuestion = {
      pickupId,
      runner: options.name,
      agent,
      agentInstanceId: options.agentInstanceId,
      model: options.model,
      phases: options.phases,
      sandboxProvider: null,
      sandboxId: null,
      disks: [{ mountPath: options.folder, freeBytes: yield* freeBytes(options.folder) }],
      waitMs: options.waitMs
    }
    const subject = subjects.pickupNext(agent)
    const timeoutMs = options.waitMs + patienceMs
    return yield* requests.ask({ subject, question: questionCodec, answer: answerCodec, timeoutMs }, question)
  })
  while (true) {
    const answer = yield* Effect.catch(toItsEnd(ask()), unanswered)
    if (answer === undefined) continue
    if (answer._tag === "Dispatch") return answer
    pickupId = crypto.randomUUID()
    yield* Effect.interruptible(Effect.sleep(Math.max(answer.retryAfterMs, retryAfterMsMin)))
  }
})

/** In a fiber of its own, so that a wait within it can be given up. */
const toItsEnd = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.uninterruptible(Effect.flatMap(Effect.forkChild(Effect.interruptible(work)), Fiber.join))

const unanswered = (error: BusError) =>
  Effect.logDebug("nobody gives work", { reason: error.message }).pipe(
    Effect.andThen(Effect.interruptible(Effect.sleep(retryAfterMs))),
    Effect.as(undefined)
  )

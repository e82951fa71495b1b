/**
 * Asks a verifier, and once more when the one that has the question falls silent: it may have died with it. The second
 * one takes over whatever claim the first has made, for the question is the same; what the first one still does about
 * it comes too late.
 */
import { Effect, Option } from "effect"
import type { BusError, Requests } from "#bus"
import { subjects, type VerifyAnswer, type VerifyRequest } from "#contracts"
import { verifyAnswerCodec, verifyRequestCodec } from "#x402"

// Most answers come within one question to a chain; a verifier's own deadline is shorter than the second.
const firstMs = 2_000
const secondMs = 10_000

export const askVerifier = Effect.fnUntraced(function* (
  requests: Requests["Service"],
  request: VerifyRequest,
  onSilence: Effect.Effect<void>
): Effect.fn.Return<VerifyAnswer, BusError> {
  const ask = (isAgain: boolean) =>
    requests.ask(
      {
        subject: subjects.paymentsVerify,
        question: verifyRequestCodec,
        answer: verifyAnswerCodec,
        timeoutMs: secondMs,
        isAgain
      },
      request
    )
  const first = yield* Effect.timeoutOption(ask(false), firstMs)
  if (Option.isSome(first)) return first.value
  yield* onSilence
  return yield* ask(true)
})

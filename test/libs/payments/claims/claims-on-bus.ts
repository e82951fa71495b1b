/** Claims on the test's own bus, and the contents of its streams and buckets. */
import { Effect, Exit, Option } from "effect"
import { StreamReader, topology } from "#bus"
import { type Claim, ClaimMove, ClaimRefused, Claims, settlementJobCodec } from "#payments"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { testRequirements } from "../../../support/payments.ts"

/** A payer may have so many of the test's calls unpaid; all payers together far more. */
export const optionsFor = (callsMax: number) => ({
  credit: { newPayerMax: callsMax * Number(testRequirements.amount), payerMax: 0, newPayersMax: 1_000e6 },
  keptMs: 86_400_000
})

export const onBus = <A, E, R>(test: Effect.Effect<A, E, R>, callsMax = 1) =>
  withBus(() => test.pipe(Effect.provide(Claims.layer(optionsFor(callsMax)))), topology)

export const why = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.findErrorOption(exit)
  return Option.isSome(error) && error.value instanceof ClaimRefused ? error.value.why : "none"
}

export const stateOf = (key: string) =>
  Effect.map(
    Effect.flatMap(Claims, ({ read }) => read(key)),
    (found) => (Option.isSome(found) ? found.value.record.state : "absent")
  )

/** To be settled, with a job for the settlers. */
export const settlingOf = (
  claims: Claims["Service"],
  claim: Claim,
  replyTo: Parameters<Claims["Service"]["requestSettlement"]>[1]
) => Effect.tap(claims.move(claim, ClaimMove.Settle()), (next) => claims.requestSettlement(next, replyTo))

export const jobs = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { messages } = yield* reader.bounds("SETTLEMENTS")
  const first = yield* reader.next("SETTLEMENTS", 0)
  return { messages, first: Option.map(first, (message) => settlementJobCodec.decode(message)) }
})

/** On a machine that is busy with other things an answer may come too late; that is no refusal. */
export const patiently = <A, E extends { readonly _tag: string }, R>(work: Effect.Effect<A, E, R>) =>
  Effect.retry(work, { times: 10, while: ({ _tag }) => _tag === "BusUnavailable" })

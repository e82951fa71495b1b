/** The webhook endpoints that the fan-out knows, by id: those that are configured, and those that were until lately. */
import { Effect, Option, Result } from "effect"
import { StreamReader } from "#bus"
import { subjects } from "#contracts"
import { type Roster, rosterCodec } from "#webhook-dispatcher/administration"

export const readRoster = Effect.gen(function* () {
  const reader = yield* StreamReader
  const stored = yield* reader.last("DELIVERIES", subjects.deliveriesRoster)
  const decoded = Option.map(stored, (message) => rosterCodec.decode(message))
  const none: Roster["endpoints"] = {}
  return Option.isSome(decoded) && Result.isSuccess(decoded.value) ? decoded.value.success.endpoints : none
})

/** For a refusal. */
export const namesIn = (roster: Roster["endpoints"]): string =>
  Object.values(roster)
    .map(({ name }) => name)
    .join(", ") || "(none)"

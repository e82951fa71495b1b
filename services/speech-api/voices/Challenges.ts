/**
 * Consent challenges: a phrase for one speaker, issued once, used up by the first create that names it. Its use is a
 * compare-and-set, so of two concurrent creates one is refused. Another workspace's challenge is not found, by the same
 * read as one that never existed.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { type BusError, kept, Kv, records } from "#bus"
import { faultOfName, isoTime } from "#base"
import { fullNameBytesMax } from "#speech/api"
import { amended, type RateTaken, sharedWindow, validationFailed, type WireError } from "#http"
import { Configuration } from "#configuration"
import { newPhrase } from "#speech/cloning"
import { ChallengeRecord, keyFor, keyOf } from "./records.ts"

/** The challenge cannot be used: it does not exist, has expired, or was used. */
export class ChallengeRefused extends Schema.TaggedError<ChallengeRefused>()("ChallengeRefused", {
  reason: Schema.Literals(["not_found", "expired", "already_used"])
}) {}

/** The workspace has reached its challenges for the hour. */
class ChallengesUsedUp extends Schema.TaggedError<ChallengesUsedUp>()("ChallengesUsedUp", {
  limit: Schema.Int,
  resetAtMs: Schema.Finite,
  retryAfterMs: Schema.Finite
}) {}

interface MadeChallenge {
  readonly challenge: ChallengeRecord
  /** The remaining challenges, for the answer's headers. */
  readonly taken: RateTaken
}

interface ChallengeRequest {
  readonly workspace: string
  readonly tokenId: string
  readonly fullName: string
}

/** A challenge that was used up for a voice that does not exist yet. */
export interface UsedChallenge {
  readonly challenge: ChallengeRecord
  readonly voiceId: string
}

export class Challenges extends Context.Service<
  Challenges,
  {
    readonly make: (request: ChallengeRequest) => Effect.Effect<MadeChallenge, ChallengesUsedUp | BusError>
    /** `by` names a create that can be retried; see `standingOf`. */
    readonly use: (
      workspace: string,
      id: string,
      by: string | null
    ) => Effect.Effect<UsedChallenge, ChallengeRefused | BusError>
  }
>()("starling/speech-api/Challenges") {
  static readonly layer = Layer.effect(
    Challenges,
    Effect.gen(function* () {
      const { VoiceCloning } = yield* Configuration
      const bucket = yield* (yield* Kv).open("consent-challenges", ChallengeRecord)
      const challenges = records(bucket)
      const window = yield* sharedWindow({
        name: "consent_challenges",
        limit: VoiceCloning.ChallengesPerHour,
        windowMs: hourMs
      })

      const make = Effect.fn("Challenges.make")(function* ({ workspace, tokenId, fullName }: ChallengeRequest) {
        const taken = yield* window.take(workspace)
        if (taken._tag === "Refused")
          return yield* new ChallengesUsedUp({
            limit: taken.limit,
            resetAtMs: taken.resetAtMs,
            retryAfterMs: taken.retryAfterMs
          })
        const { phrase, words } = yield* newPhrase
        const nowMs = yield* Clock.currentTimeMillis
        const record: ChallengeRecord = {
          id: crypto.randomUUID(),
          workspace,
          fullName,
          phrase,
          words,
          tokenId,
          createdAt: isoTime(nowMs),
          expiresAt: isoTime(nowMs + VoiceCloning.ChallengeMinutes * 60_000),
          used: null
        }
        const giveBack = Effect.ignore(window.giveBack(workspace, taken))
        yield* Effect.tapError(bucket.create(keyFor(record), record), () => giveBack)
        return { challenge: record, taken }
      })

      const use = Effect.fn("Challenges.use")(function* (workspace: string, id: string, by: string | null) {
        const key = keyOf(workspace, id)
        if (key === undefined) return yield* refused("not_found")
        const voiceId = crypto.randomUUID()
        return (yield* challenges.change(key, (before, { nowMs }) => {
          if (before === undefined) return Result.fail(refused("not_found"))
          switch (stateOf(before, by, nowMs)) {
            case "expired":
              return Result.fail(refused("expired"))
            case "used":
              return Result.fail(refused("already_used"))
            case "resumed":
              return kept({ challenge: before, voiceId: before.used?.voiceId ?? voiceId })
            case "open": {
              const challenge = { ...before, used: { at: isoTime(nowMs), by, voiceId } }
              return Result.succeed({ answer: { challenge, voiceId }, next: challenge })
            }
          }
        })).answer
      })
      return Challenges.of({ make, use })
    })
  )
}

const hourMs = 3_600_000

const refused = (reason: ChallengeRefused["reason"]) => new ChallengeRefused({ reason })

/** A name that is too long is refused with its measured length. */
export const faultOfFullName = (fullName: string): WireError | undefined => {
  const bytes = Buffer.byteLength(fullName)
  if (bytes > fullNameBytesMax) {
    const fault = `is ${bytes} bytes of UTF-8, at most ${fullNameBytesMax} are taken`
    const details = { full_name_bytes: bytes, full_name_bytes_max: fullNameBytesMax }
    return amended(validationFailed({ full_name: fault }), { details })
  }
  const fault = faultOfPersonName(fullName)
  return fault === undefined ? undefined : validationFailed({ full_name: fault })
}

/** What is wrong with a person's name, whatever its length. */
export const faultOfPersonName = (name: string): string | undefined => {
  const fault = faultOfName(name)
  if (fault !== undefined) return fault
  return /^[\p{White_Space}\p{Cf}\u{115F}\u{1160}\u{3164}]*$/u.test(name) ? "is blank" : undefined
}

type ChallengeState = "open" | "resumed" | "used" | "expired"

/**
 * `by` names the create, if a retry of it can be recognized: a create that a fault of ours cut off can continue with
 * the challenge that it had already used up.
 */
export const stateOf = (
  { used, expiresAt }: Pick<ChallengeRecord, "used" | "expiresAt">,
  by: string | null,
  nowMs: number
): ChallengeState => {
  if (used !== null) return by !== null && used.by === by ? "resumed" : "used"
  return nowMs >= Date.parse(expiresAt) ? "expired" : "open"
}

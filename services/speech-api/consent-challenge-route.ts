/** The route that starts a consent: a phrase for one speaker, so many in an hour for each workspace. */
import { Effect } from "effect"
import { ConsentChallengeRequest } from "#contracts"
import {
  type Answer,
  Caller,
  Idempotency,
  idempotencyKey,
  jsonAnswer,
  jsonFingerprint,
  rateLimited,
  rateLimitHeaders,
  readJson,
  type SharedTaken,
  type WireError,
  withHeaders
} from "#http"
import { Metrics } from "#runtime"
import { callerVersion } from "./caller-version.ts"
import { faultOfFullName } from "./voices/challenge-policy.ts"
import { Challenges } from "./voices/Challenges.ts"
import { challengesAsked } from "./voices/metrics.ts"
import { refusalOfVoice } from "./voices/voice-refusals.ts"

// Room for a name that is much too long: it is told how long it was.
const bodyBytesMax = 65_536

const make = Effect.fnUntraced(function* (fullName: string, onTaken: (taken: SharedTaken) => void) {
  const { workspace, tokenId } = yield* Caller
  const { challenge, taken } = yield* Effect.mapError(
    (yield* Challenges).make({ workspace, tokenId, fullName }),
    (error) =>
      error._tag === "ChallengesUsedUp"
        ? rateLimited(error.retryAfterMs / 1_000, "consent_challenges", rateLimitHeaders({ ...error, _tag: "Refused" }))
        : refusalOfVoice(error)
  )
  onTaken(taken)
  return jsonAnswer({ id: challenge.id, phrase: challenge.phrase, expires_at: challenge.expiresAt })
})

const limitHeaders = ({ limit, remaining, resetMs }: SharedTaken) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(Math.ceil(resetMs / 1_000))
})

/** Counted are requests that were served or refused here, not replays. */
const counted = Effect.fnUntraced(function* <R>(work: Effect.Effect<Answer, WireError, R>) {
  const asked = (yield* Metrics).counter(challengesAsked)
  return yield* work.pipe(
    Effect.tap(() => Effect.sync(() => asked.inc({ outcome: "given" }))),
    Effect.tapError(({ code }) => Effect.sync(() => asked.inc({ outcome: code })))
  )
})

export const answerChallenge = Effect.gen(function* () {
  yield* callerVersion
  const { workspace } = yield* Caller
  const request = yield* readJson(ConsentChallengeRequest, { bytesMax: bodyBytesMax, nullIsAbsent: true })
  const key = yield* idempotencyKey(request.idempotency_key)
  const fault = faultOfFullName(request.full_name)
  if (fault !== undefined) return yield* counted(Effect.fail(fault))
  // What the window says now stands on no replay: that would tell of another time.
  let taken: SharedTaken | undefined
  const fullName = request.full_name.trim()
  const answer = yield* (yield* Idempotency).run(
    {
      workspace,
      route: "POST /v1/voices/consent-challenges",
      key,
      fingerprint: jsonFingerprint({ full_name: request.full_name })
    },
    counted(make(fullName, (now) => (taken = now)))
  )
  return taken === undefined ? answer : withHeaders(answer, limitHeaders(taken))
})

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Challenges } from "../../../../services/speech-api/voices/Challenges.ts"
import { stored } from "./voice-storage.ts"

describe("a challenge", () => {
  const ask = (workspace: string) =>
    Effect.flatMap(Challenges, ({ make }) => make({ workspace, tokenId: "token-1", fullName: "Ada Lovelace" }))
  const reasonOf = <A, E>(use: Effect.Effect<A, E>) =>
    Effect.map(Effect.flip(use), (error) => (error as { readonly reason?: string }).reason)

  it.live("is used by one of many creates at once, and found in its own workspace only", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const { challenge } = yield* ask("acme")
        assert.strictEqual(yield* reasonOf(challenges.use("other", challenge.id, null)), "not_found")
        assert.strictEqual(yield* reasonOf(challenges.use("acme", "nobody", null)), "not_found")
        const uses = yield* Effect.all(
          Array.from({ length: 16 }, () => Effect.exit(challenges.use("acme", challenge.id, null))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(uses.filter((exit) => exit._tag === "Success").length, 1)
        assert.strictEqual(yield* reasonOf(challenges.use("acme", challenge.id, null)), "already_used")
      })
    )
  )

  it.live("gives the same voice when the create that used it is repeated", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const { challenge } = yield* ask("acme")
        const first = yield* challenges.use("acme", challenge.id, "create-1")
        const again = yield* challenges.use("acme", challenge.id, "create-1")
        assert.strictEqual(again.voiceId, first.voiceId)
        assert.strictEqual(yield* reasonOf(challenges.use("acme", challenge.id, "create-2")), "already_used")
      })
    )
  )

  it.live("is limited per hour for each workspace, and expires", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const remaining: Array<number> = []
        for (let count = 0; count < 3; count++) remaining.push((yield* ask("acme")).taken.remaining)
        assert.deepStrictEqual(remaining, [2, 1, 0])
        const refused = yield* Effect.flip(ask("acme"))
        assert.strictEqual(refused._tag, "ChallengesUsedUp")
        const { challenge } = yield* ask("other")
        const nowMs = yield* Clock.currentTimeMillis
        yield* Effect.sleep(Date.parse(challenge.expiresAt) - nowMs + 1)
        assert.strictEqual(yield* reasonOf(challenges.use("other", challenge.id, null)), "expired")
      }),
      { ChallengesPerHour: 3, ChallengeMinutes: 0.01 }
    )
  )
})

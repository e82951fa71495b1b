import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"
import { challengeFor, refusalIn, toldIn } from "../support/voices.ts"

const challengesPerHour = 40

let fleet: SpeechFleet
let other: string
beforeAll(async () => {
  fleet = await speechFleet({ VOICE_CLONING_CHALLENGES_PER_HOUR: String(challengesPerHour) })
  other = await fleet.tokenOf("--workspace", "other", "--role", "member")
})
afterAll(() => fleet.stop())

const challenges = "/v1/voices/consent-challenges"

describe("a consent challenge", () => {
  it("has a phrase of its own, good for some minutes", async () => {
    const [first, second] = [await challengeFor(fleet), await challengeFor(fleet)]
    assert.notStrictEqual(first.id, second.id)
    assert.notStrictEqual(first.phrase, second.phrase)
    assert.match(first.phrase, /^I agree to have my voice cloned\. /u)
    const minutes = (Date.parse(first.expires_at) - Date.now()) / 60_000
    assert.isTrue(minutes > 9 && minutes <= 10, first.expires_at)
  })

  it.each([
    ["a".repeat(121), 121],
    ["é".repeat(61), 122],
    ["🙂".repeat(5_000), 20_000]
  ])("is refused for a name that is too long, with its length", async (full_name, bytes) => {
    const answer = await fleet.call(challenges, { body: { full_name } })
    assert.strictEqual(refusalIn(answer), "400 validation_failed")
    const { fields, details } = toldIn(answer)
    assert.include(fields?.["full_name"], String(bytes))
    assert.deepStrictEqual(details, { full_name_bytes: bytes, full_name_bytes_max: 120 })
    assert.isNull(answer.headers.get("ratelimit-limit"))
  })

  it("is given for a null key as without one", async () => {
    const body = { full_name: "Ada Lovelace", idempotency_key: null }
    const [first, second] = [await fleet.call(challenges, { body }), await fleet.call(challenges, { body })]
    assert.deepStrictEqual([first.status, second.status], [200, 200])
    assert.notDeepEqual(first.body, second.body)
  })

  it.each([
    {},
    { full_name: null },
    { full_name: "" },
    { full_name: " \t" },
    { full_name: 7 },
    { full_name: "Ada\nLovelace" }
  ])("is refused for %j", async (body) => {
    const answer = await fleet.call(challenges, { body })
    assert.strictEqual(refusalIn(answer), "400 validation_failed")
    assert.deepStrictEqual(Object.keys(toldIn(answer).fields ?? {}), ["full_name"])
  })

  it("needs a token with a scope for it", async () => {
    const body = { full_name: "Ada Lovelace" }
    const reader = await fleet.tokenFor("voices:read")
    for (const [token, refusal] of [
      [null, "401 unauthorized"],
      [reader, "403 insufficient_scope"]
    ] as const) {
      const answer = await fleet.call(challenges, { body, token })
      assert.strictEqual(refusalIn(answer), refusal)
      assert.isNull(answer.headers.get("ratelimit-limit"))
    }
  })

  it("is limited per hour for each workspace, replays not counted", async () => {
    const token = await fleet.tokenOf("--workspace", "eager", "--role", "member")
    const ask = (key?: string, name = "Ada Lovelace") =>
      fleet.call(challenges, {
        body: { full_name: name },
        token,
        headers: key === undefined ? {} : { "idempotency-key": key }
      })
    const first = await ask("key-1")
    assert.strictEqual(first.headers.get("ratelimit-limit"), String(challengesPerHour))
    assert.strictEqual(first.headers.get("ratelimit-remaining"), String(challengesPerHour - 1))
    assert.isAtMost(Number(first.headers.get("ratelimit-reset")), 3_600)
    const replay = await ask("key-1")
    assert.deepStrictEqual(replay.body, first.body)
    assert.strictEqual(replay.headers.get("idempotent-replayed"), "true")
    assert.isNull(replay.headers.get("ratelimit-limit"), "a replay tells nothing of now")
    const byField = { full_name: "Ada Lovelace", idempotency_key: "key-1" }
    assert.deepStrictEqual((await fleet.call(challenges, { body: byField, token })).body, first.body)
    assert.strictEqual(refusalIn(await ask("key-1", "Charles Babbage")), "409 idempotency_conflict")

    const answers = await Promise.all(Array.from({ length: challengesPerHour + 4 }, () => ask()))
    const given = answers.filter(({ status }) => status === 200)
    assert.strictEqual(given.length, challengesPerHour - 1)
    const left = given.map(({ headers }) => Number(headers.get("ratelimit-remaining"))).toSorted((a, b) => a - b)
    assert.deepStrictEqual(
      left,
      Array.from({ length: challengesPerHour - 1 }, (_, index) => index)
    )
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      assert.strictEqual(refusalIn(refused), "429 rate_limited")
      const waitSeconds = Number(refused.headers.get("retry-after"))
      assert.isTrue(waitSeconds > 3_500 && waitSeconds <= 3_600, String(waitSeconds))
      assert.strictEqual(refused.headers.get("ratelimit-limit"), String(challengesPerHour))
      assert.strictEqual(refused.headers.get("ratelimit-remaining"), "0")
    }
    assert.strictEqual((await ask("key-1")).status, 200, "a replay needs no place")
    assert.strictEqual((await fleet.call(challenges, { body: { full_name: "Ada" }, token: other })).status, 200)
  })
})

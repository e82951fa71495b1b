import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Heard, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"
import {
  agedChallenge,
  challengeFor,
  clipped,
  create,
  lasting,
  onceHeard,
  type Parts,
  recorded,
  refusalIn,
  silence,
  spokenParts,
  story,
  toldIn
} from "../support/voices.ts"

let fleet: SpeechFleet
let other: string
let sample: Buffer
beforeAll(async () => {
  // More than there are refusals.
  fleet = await speechFleet({ VOICE_CLONING_CHALLENGES_PER_HOUR: "40" })
  other = await fleet.tokenOf("--workspace", "other", "--role", "member")
  sample = await recorded(fleet, "alan", story)
})
afterAll(() => fleet.stop())

/** A create that is right in everything except the test's change. */
const attempt = async (change: (phrase: string) => Parts | Promise<Parts>): Promise<Heard> => {
  const { id, phrase } = await challengeFor(fleet)
  const right = { sample, consent_challenge_id: id, consent_recording: await recorded(fleet, "alan", phrase) }
  const answer = await create(fleet, { ...right, ...(await change(phrase)) })
  assert.deepStrictEqual(
    [...answer.headers.keys()].filter((name) => name.startsWith("ratelimit")),
    []
  )
  // Whatever became of it, the challenge is used up, but where no form could be read.
  const again = await create(fleet, right)
  if (answer.status !== 413) assert.strictEqual(refusalIn(again), "409 consent_challenge_already_used")
  return answer
}

describe("a voice is made", () => {
  it("when its speaker has read the phrase", async () => {
    const parts = { name: "  Ada, the first  ", locale: "en-gb", gender: "not_specified" }
    const answer = await onceHeard(() => attempt(() => parts))
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    const voice = answer.body as Record<string, unknown>
    assert.deepInclude(voice, {
      display_name: "Ada, the first",
      gender: "not_specified",
      locale: "en-GB",
      type: "personal",
      avatar_image: null
    })
    assert.strictEqual(answer.headers.get("location"), `/v1/voices/${String(voice["id"])}`)
    assert.isNull(answer.headers.get("deprecation"))
  })
})

describe("no voice is made", () => {
  const unusable = "422 consent_recording_unusable"
  const cases: ReadonlyArray<[string, (phrase: string) => Parts | Promise<Parts>, string, string?]> = [
    [
      "when another phrase was read",
      async () => ({ consent_recording: await recorded(fleet, "alan", (await challengeFor(fleet)).phrase) }),
      "422 consent_phrase_mismatch"
    ],
    [
      "when something else was said",
      async () => ({ consent_recording: await recorded(fleet, "alan", story) }),
      "422 consent_phrase_mismatch"
    ],
    [
      "when somebody else read the phrase",
      async (phrase) => ({ consent_recording: await recorded(fleet, "selma", phrase) }),
      "422 consent_speaker_mismatch"
    ],
    ["of silence", () => ({ consent_recording: silence(8) }), unusable, "silent"],
    [
      "of a recording that is clipped",
      async (phrase) => ({ consent_recording: clipped(await recorded(fleet, "alan", phrase)) }),
      unusable,
      "clipped"
    ],
    ["of four seconds of consent", () => ({ consent_recording: lasting(sample, 4) }), unusable, "too_short"],
    ["of 31 seconds of consent", () => ({ consent_recording: lasting(sample, 31) }), unusable, "too_long"],
    ["of a text", () => ({ consent_recording: Buffer.from("I agree to everything.") }), unusable, "not_audio"],
    ["of nothing", () => ({ consent_recording: Buffer.alloc(0) }), unusable],
    ["of nine seconds of sample", () => ({ sample: lasting(sample, 9) }), "400 validation_failed", "too_short"],
    ["of 31 seconds of sample", () => ({ sample: lasting(sample, 31) }), "400 validation_failed", "too_long"],
    ["of a sample of silence", () => ({ sample: silence(15) }), "400 validation_failed", "silent"],
    ["of a sample that is a text", () => ({ sample: Buffer.from("Listen!") }), "400 validation_failed", "not_audio"],
    ["without a sample", () => ({ sample: undefined }), "400 validation_failed"],
    ["without a recording of consent", () => ({ consent_recording: undefined }), "400 validation_failed"],
    ["without a name", () => ({ name: "  " }), "400 validation_failed"],
    ["of no gender", () => ({ gender: "loud" }), "400 validation_failed"],
    ["in a language that nobody speaks here", () => ({ locale: "tlh-QO" }), "400 validation_failed"],
    ["with a picture that is none", () => ({ avatar: Buffer.from("<svg/>") }), "400 validation_failed"],
    ["with a key that is none", () => ({ idempotency_key: "\u0000" }), "400 validation_failed"],
    ["of 26 MB of consent", () => ({ consent_recording: Buffer.alloc(26_000_000) }), "413 payload_too_large"]
  ]

  it.each(cases)("%s", async (_, change, refusal, reason) => {
    const isMisread = refusal.endsWith("consent_phrase_mismatch")
    const answer = await (isMisread ? attempt(change) : onceHeard(() => attempt(change)))
    assert.strictEqual(refusalIn(answer), refusal, JSON.stringify(answer.body))
    if (reason !== undefined) assert.strictEqual(toldIn(answer).details?.["reason"], reason)
  })

  it("of a playlist, and no host that it names is called", async () => {
    let calls = 0
    const trap = createServer((_, response) => {
      calls += 1
      response.end()
    })
    await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve))
    const { port } = trap.address() as AddressInfo
    try {
      const playlist = Buffer.from(`#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:10.0,\nhttp://127.0.0.1:${port}/a.ts\n`)
      const answer = await attempt(() => ({ consent_recording: playlist }))
      assert.strictEqual(refusalIn(answer), unusable)
      assert.strictEqual(calls, 0)
    } finally {
      trap.close()
    }
  })

  it("with a challenge that has expired", async () => {
    const { id, phrase } = await challengeFor(fleet)
    const recording = await recorded(fleet, "alan", phrase)
    await agedChallenge(fleet, id)
    const answer = await create(fleet, { sample, consent_challenge_id: id, consent_recording: recording })
    assert.strictEqual(refusalIn(answer), "409 consent_challenge_expired")
  })

  it("with a challenge of another workspace, which gets the answer of an unknown one", async () => {
    const own = await onceHeard(async () => {
      const parts = await spokenParts(fleet, "alan")
      const foreign = await create(fleet, parts, { token: other })
      const unknown = await create(fleet, { ...parts, consent_challenge_id: crypto.randomUUID() }, { token: other })
      assert.strictEqual(refusalIn(foreign), "404 consent_challenge_not_found")
      assert.deepStrictEqual(toldIn(foreign), toldIn(unknown))
      return create(fleet, parts)
    })
    // It was not theirs to use up.
    assert.strictEqual(own.status, 201)
  })

  it("without a challenge, whatever else a current caller sends", async () => {
    const consent = JSON.stringify({ fullName: "Ada Lovelace", email: "ada@example.org" })
    const answer = await create(fleet, { sample, consent })
    assert.strictEqual(refusalIn(answer), "400 validation_failed")
    assert.sameMembers(Object.keys(toldIn(answer).fields ?? {}), ["consent_challenge_id", "consent_recording"])
  })
})

describe("a fleet without a recogniser", () => {
  it("says so with Retry-After; the same create may then use its challenge, and no other may", async () => {
    const deaf = await speechFleet({ VOICE_CLONING_POCKETSPHINX_PATH: "/bin/false" })
    try {
      const parts = await spokenParts(deaf, "alan")
      const headers = { "idempotency-key": crypto.randomUUID() }
      for (const time of ["first", "second"]) {
        const answer = await create(deaf, parts, { headers })
        assert.strictEqual(refusalIn(answer), "503 consent_verification_unavailable", time)
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
        assert.isNull(answer.headers.get("ratelimit-limit"))
      }
      assert.strictEqual(refusalIn(await create(deaf, parts)), "409 consent_challenge_already_used")
      const { body } = await deaf.call("/v1/voices?type=personal")
      assert.isEmpty((body as { readonly voices: ReadonlyArray<unknown> }).voices)
    } finally {
      await deaf.stop()
    }
  })
})

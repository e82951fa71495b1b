import { createReadStream, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SpeechifyClient, type SpeechifyError } from "@speechify/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"
import { starling } from "../../dev/fixtures/starling.ts"
import { challengeFor, create, recorded, refusalIn, story, toldIn } from "../support/voices.ts"

const consent = JSON.stringify({ fullName: "Grace Hopper", email: "grace@example.org" })
const sunset = "2100-01-01"

let fleet: SpeechFleet
let sample: Buffer
beforeAll(async () => {
  fleet = await speechFleet({ VOICE_CLONING_LEGACY_FLOW_SUNSET: sunset })
  sample = await recorded(fleet, "selma", story)
})
afterAll(() => fleet.stop())

const pinned = (version: string) => ({ headers: { "speechify-version": version } })

describe("@speechify/api 1.0.1", () => {
  it("clones a voice as before, finds it in the list, speaks with it, downloads its sample, and deletes it", async () => {
    const client = new SpeechifyClient({ baseUrl: fleet.url, token: fleet.token })
    const path = join(fleet.home.folder, "sample.wav")
    writeFileSync(path, sample)
    const made = await client.tts.voices.create({
      sample: createReadStream(path),
      name: "Grace",
      gender: "notSpecified",
      consent
    })
    assert.deepInclude(made, { displayName: "Grace", gender: "notSpecified", locale: "en-US", type: "personal" })
    assert.isNotEmpty(made.models)

    const own = (await client.tts.voices.list()).filter(({ id }) => id === made.id)
    assert.strictEqual(own.length, 1)
    assert.strictEqual(own[0]?.gender, "notSpecified")
    const answer = await client.tts.audio.speech({ input: "Hello.", voiceId: made.id, audioFormat: "mp3" })
    assert.isAbove(answer.audioData.length, 1_000)

    const parts: Array<Buffer> = []
    for await (const part of await client.tts.voices.downloadSample(made.id))
      parts.push(Buffer.from(part as Uint8Array))
    assert.isTrue(Buffer.concat(parts).equals(sample))

    await client.tts.voices.delete(made.id)
    let status = 0
    await client.tts.voices.delete(made.id).catch((error: SpeechifyError) => (status = error.statusCode ?? 0))
    assert.strictEqual(status, 404)
  })
})

describe("a caller pinned before 2026-09-13", () => {
  it("clones without a challenge, and gets a deprecation notice", async () => {
    const answer = await create(fleet, { sample, consent }, pinned("2026-09-12"))
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    const { headers } = answer
    assert.strictEqual(headers.get("deprecation"), `@${Date.parse("2026-09-13T00:00:00Z") / 1_000}`)
    assert.strictEqual(headers.get("sunset"), "Fri, 01 Jan 2100 00:00:00 GMT")
    assert.include(headers.get("link"), "</v1/voices/consent-challenges>")

    const { id } = answer.body as { readonly id: string }
    const { out } = await starling(fleet.home, "consents")
    const own = out.split("\n").find((line) => line.startsWith(id)) ?? ""
    assert.include(own, "declared (grace@example.org)")
    assert.isTrue(own.endsWith("Grace Hopper"), own)
    const none = await starling(fleet.home, "consents", "get", id, "--out", join(fleet.home.folder, "none.wav"))
    assert.strictEqual(none.code, 1)
    assert.include(none.error, "declared")
  })

  it("gets the notice with refusals too", async () => {
    const answer = await create(fleet, { sample, consent: '{"fullName": ""}' }, pinned("2025-01-01"))
    assert.strictEqual(refusalIn(answer), "400 validation_failed")
    assert.deepStrictEqual(Object.keys(toldIn(answer).fields ?? {}), ["consent"])
    assert.isNotNull(answer.headers.get("deprecation"))
  })

  it("may use a challenge, and is then held to it", async () => {
    const { id } = await challengeFor(fleet)
    const parts = { sample, consent, consent_challenge_id: id, consent_recording: sample }
    const answer = await create(fleet, parts, pinned("2026-09-12"))
    assert.strictEqual(refusalIn(answer), "422 consent_phrase_mismatch")
    assert.isNull(answer.headers.get("deprecation"))
  })
})

describe("a caller with the current version", () => {
  it("cannot clone without a challenge", async () => {
    for (const asked of [{}, pinned("2026-09-13")]) {
      const answer = await create(fleet, { sample, consent }, asked)
      assert.strictEqual(refusalIn(answer), "400 validation_failed")
      assert.isNull(answer.headers.get("deprecation"))
    }
  })
})

describe("the flow without a challenge", () => {
  it("is refused after its last day, and names the alternative", async () => {
    const later = await speechFleet({ VOICE_CLONING_LEGACY_FLOW_SUNSET: "2026-10-01" })
    try {
      const answer = await create(later, { sample, consent }, pinned("2026-09-12"))
      assert.strictEqual(refusalIn(answer), "403 forbidden")
      assert.include(toldIn(answer).message, "consent_challenge_id")
      assert.strictEqual(answer.headers.get("sunset"), "Thu, 01 Oct 2026 00:00:00 GMT")
      const { body } = await later.call("/v1/voices?type=personal")
      assert.isEmpty((body as { readonly voices: ReadonlyArray<unknown> }).voices)
    } finally {
      await later.stop()
    }
  })
})

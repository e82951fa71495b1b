import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { codeOf, containerOf, eventsIn, type Heard, type SpeechFleet } from "../support/speech-fleet.ts"
import { openStream } from "../support/speech-clients.ts"
import { starling } from "../../dev/fixtures/starling.ts"
import {
  challengeFor,
  cloned,
  create,
  onceHeard,
  type Parts,
  refusalIn,
  spokenParts,
  toldIn
} from "../support/voices.ts"
import {
  fleetWithVoice,
  idsOf,
  input,
  type Listed,
  listedIn,
  name,
  picture,
  voicesMax
} from "../support/voices-life.ts"

let fleet: SpeechFleet
let other: string
let voice: string
beforeAll(async () => {
  ;({ fleet, other, voice } = await fleetWithVoice())
})
afterAll(() => fleet.stop())

const listed = (query: string, token = fleet.token) => listedIn(fleet, query, token)
const spoken = { input, voice_id: "" }

describe("a cloned voice", () => {
  it("is listed beside those of the catalogue, in its own workspace only", async () => {
    const all = await listed("")
    assert.include(idsOf(all), voice)
    assert.isAbove(all.length, 20)
    assert.deepStrictEqual(idsOf(await listed("?type=personal")), [voice])
    assert.deepStrictEqual(idsOf(await listed("?type=personal&locale=en&gender=female&model=tts-3.0")), [voice])
    assert.deepStrictEqual(await listed("?type=personal&model=tts-3.2"), [])
    assert.notInclude(idsOf(await listed("?type=shared")), voice)
    assert.deepStrictEqual(await listed("?type=personal", other), [])
    assert.notInclude(idsOf(await listed("", other)), voice)
  })

  it("is found by its id, with its sample and its picture", async () => {
    const { body } = await fleet.call(`/v1/voices/${voice}`)
    assert.deepInclude(body, {
      id: voice,
      display_name: name,
      type: "personal",
      avatar_image: `/v1/voices/${voice}/avatar`
    })
    const sample = await fleet.call(`/v1/voices/${voice}/sample`)
    assert.strictEqual(sample.contentType, "audio/wav")
    assert.strictEqual(containerOf(sample.bytes), "wav")
    assert.strictEqual(Number(sample.headers.get("content-length")), sample.bytes.length)
    assert.strictEqual(sample.headers.get("x-content-type-options"), "nosniff")
    const avatar = await fleet.call(`/v1/voices/${voice}/avatar`)
    assert.strictEqual(avatar.contentType, "image/png")
    assert.isTrue(avatar.bytes.equals(picture))
    for (const path of ["sample", "avatar"]) {
      assert.strictEqual(refusalIn(await fleet.call(`/v1/voices/henry/${path}`)), "404 not_found")
    }
  })

  it.each(["tts-3.0", "tts-english", "tts-multilingual", "simba-3.0"])("speaks with %s", async (model) => {
    const answer = await fleet.call("/v1/audio/speech", { body: { ...spoken, voice_id: voice, model } })
    assert.strictEqual(answer.status, 200)
    const { audio_duration_ms, speech_marks } = answer.body as Record<string, { readonly value: string }>
    assert.isAbove(Number(audio_duration_ms), 800)
    assert.strictEqual(speech_marks?.value, input)
  })

  it("speaks on every route, and in a dialogue with a voice of the catalogue", async () => {
    const stream = await fleet.call("/v1/audio/stream", { body: { ...spoken, voice_id: voice } })
    assert.strictEqual(containerOf(stream.bytes), "mp3")
    const marked = await fleet.call("/v1/audio/stream/with-timestamps", { body: { ...spoken, voice_id: voice } })
    const words = eventsIn(marked.bytes.toString()).flatMap(
      ({ data }) => (data["speech_marks"] ?? []) as ReadonlyArray<{ readonly value: string }>
    )
    assert.deepStrictEqual(
      words.map(({ value }) => value),
      ["Hello,", "it", "is", "me."]
    )
    const turns = [
      { input, voice_id: voice },
      { input: "Good day.", voice_id: "henry" },
      { input, voice_id: voice }
    ]
    assert.strictEqual((await fleet.call("/v1/audio/dialogue", { body: { turns } })).status, 200)
  })

  it("speaks the languages of its locale's voices", async () => {
    const ask = (language: string) =>
      fleet.call("/v1/audio/speech", { body: { input: "Guten Tag.", voice_id: voice, language } })
    assert.strictEqual((await ask("de-DE")).status, 200)
    assert.strictEqual(refusalIn(await ask("nl-NL")), "400 validation_failed")
  })

  it("speaks with tts-3.2 only in workspaces for which that is enabled", async () => {
    const body = { ...spoken, voice_id: voice, model: "tts-3.2" }
    const refused = await fleet.call("/v1/audio/speech", { body })
    assert.strictEqual(refusalIn(refused), "403 forbidden")
    assert.include(toldIn(refused).message, "tts-3.2")

    const token = await fleet.tokenOf("--workspace", "expressive", "--role", "member")
    const [english, german] = [
      await cloned(fleet, "alan", {}, token),
      await cloned(fleet, "alan", { locale: "de-DE" }, token)
    ]
    assert.deepStrictEqual(idsOf(await listed("?type=personal&model=tts-3.2", token)), [english])
    assert.strictEqual(
      (await fleet.call("/v1/audio/speech", { body: { ...body, voice_id: english }, token })).status,
      200
    )
    const notEnglish = await fleet.call("/v1/audio/speech", { body: { ...body, voice_id: german }, token })
    assert.strictEqual(refusalIn(notEnglish), "400 validation_failed")
  })
})

describe("the permission to delete a voice", () => {
  it("belongs to members who manage content, with a key for it, and to service accounts by their scopes", async () => {
    const viewer = await fleet.tokenOf("--role", "viewer")
    const reader = await fleet.tokenOf("--role", "owner", "--scope", "voices:read")
    const service = await fleet.tokenFor("voices:read")
    for (const [token, refusal] of [
      [viewer, "403 forbidden"],
      [reader, "403 insufficient_scope"],
      [service, "403 insufficient_scope"],
      [null, "401 unauthorized"]
    ] as const) {
      const answer = await fleet.call(`/v1/voices/${voice}`, { method: "DELETE", token })
      assert.strictEqual(refusalIn(answer), refusal)
    }
    const told = toldIn(await fleet.call(`/v1/voices/${voice}`, { method: "DELETE", token: viewer }))
    assert.deepStrictEqual(told.details, { permission: "content.manage" })
    assert.strictEqual(codeOf(await create(fleet, {}, { token: viewer })), "insufficient_scope")
    assert.strictEqual((await fleet.call(`/v1/voices/${voice}`, { token: viewer })).status, 200)

    const shared = await fleet.call("/v1/voices/henry", { method: "DELETE" })
    assert.strictEqual(refusalIn(shared), "403 forbidden")
  })

  it("removes it for the whole workspace; running speech goes on to its end", async () => {
    const member = await fleet.tokenOf("--role", "member", "--scope", "voices:all")
    const leaving = await cloned(fleet, "roger")
    const long = { input: "The tide is out. ".repeat(100), voice_id: leaving, output_format: "pcm_24000" }
    const { response } = await openStream(fleet, "/v1/audio/stream", long)
    const deleted = await fleet.call(`/v1/voices/${leaving}`, { method: "DELETE", token: member })
    assert.strictEqual(deleted.status, 204)
    assert.strictEqual(deleted.bytes.length, 0)
    for (const path of ["", "/sample", "/avatar"]) {
      assert.strictEqual(refusalIn(await fleet.call(`/v1/voices/${leaving}${path}`)), "404 voice_not_found")
    }
    assert.strictEqual(
      refusalIn(await fleet.call(`/v1/voices/${leaving}`, { method: "DELETE" })),
      "404 voice_not_found"
    )
    const silent = await fleet.call("/v1/audio/speech", { body: { input, voice_id: leaving } })
    assert.strictEqual(refusalIn(silent), "404 voice_not_found")
    assert.deepStrictEqual(idsOf(await listed("?type=personal")), [voice])

    let bytes = 0
    for await (const part of response as AsyncIterable<Buffer>) bytes += part.length
    assert.isTrue(response.complete)
    assert.isAbove(bytes / 48_000, 100 * 0.5)
  })
})

describe("creates with one idempotency key", () => {
  it("make one voice, however many come at once, and use one challenge", async () => {
    const before = idsOf(await listed("?type=personal"))
    let sent: { readonly parts: Parts; readonly headers: Readonly<Record<string, string>> } = { parts: {}, headers: {} }
    let answers: ReadonlyArray<Heard> = []
    await onceHeard(async () => {
      const parts = await spokenParts(fleet, "alan")
      sent = { parts, headers: { "idempotency-key": crypto.randomUUID() } }
      answers = await Promise.all(Array.from({ length: 6 }, () => create(fleet, sent.parts, sent)))
      return answers.find(({ status }) => status !== 409) as Heard
    })
    const made = answers.filter(({ status }) => status === 201)
    const first = made.filter(({ headers }) => !headers.has("idempotent-replayed"))
    assert.strictEqual(first.length, 1)
    for (const answer of made) assert.deepStrictEqual(answer.body, first[0]?.body)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.strictEqual(refusalIn(answer), "409 idempotency_conflict")
    }
    const { id } = (first[0] as Heard).body as Listed
    assert.sameMembers(idsOf(await listed("?type=personal")), [...before, id])

    const replay = await create(fleet, sent.parts, sent)
    assert.deepStrictEqual([replay.status, replay.body], [201, first[0]?.body])
    assert.strictEqual(replay.headers.get("idempotent-replayed"), "true")
    const byField = await create(fleet, { ...sent.parts, idempotency_key: sent.headers["idempotency-key"] })
    assert.strictEqual(refusalIn(byField), "409 idempotency_conflict", "it is another form")

    // A conflict does not use up the challenge that it names.
    const { id: fresh } = await challengeFor(fleet)
    const conflict = await create(fleet, { ...sent.parts, consent_challenge_id: fresh }, sent)
    assert.strictEqual(refusalIn(conflict), "409 idempotency_conflict")
    assert.strictEqual(refusalIn(await create(fleet, { consent_challenge_id: fresh })), "400 validation_failed")
    assert.strictEqual(
      refusalIn(await create(fleet, { consent_challenge_id: fresh })),
      "409 consent_challenge_already_used"
    )
  })

  it("are refused like all others when the workspace is full", async () => {
    assert.strictEqual((await listed("?type=personal")).length, voicesMax)
    const answer = await create(fleet, await spokenParts(fleet, "alan"))
    assert.strictEqual(refusalIn(answer), "403 too_many_voices")
    assert.deepStrictEqual(toldIn(answer).details, { voices_max: voicesMax })
  })
})

describe("an operator", () => {
  it("sees the consents and can hear them, even after the voice is deleted", async () => {
    const consents = async (...parameters: ReadonlyArray<string>) => {
      const { code, out, error } = await starling(fleet.home, "consents", ...parameters)
      assert.strictEqual(code, 0, error)
      return out.trim().split("\n")
    }
    const lines = await consents("--workspace", "default")
    const own = lines.find((line) => line.startsWith(voice)) ?? ""
    assert.include(own, "verified (weak)")
    assert.include(own, "in use")
    assert.isTrue(own.endsWith("Ada Lovelace"), own)
    assert.isTrue(lines.some((line) => / deleted \d/u.test(line)))
    assert.lengthOf(await consents("--workspace", "nobody"), 1)

    const records = (await consents("--json")).map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.includeMembers(
      records.map(({ workspace }) => workspace),
      ["default", "expressive"]
    )
    const record = records.find(({ voiceId }) => voiceId === voice)
    const method = record?.["method"] as { readonly phrase: string; readonly evidence: Record<string, unknown> }
    assert.match(method.phrase, /^I agree/u)
    assert.deepInclude(method.evidence, { wordsAsked: 5, speakerStrength: "weak" })

    const path = join(fleet.home.folder, "consent.wav")
    await consents("get", voice, "--out", path)
    assert.strictEqual(containerOf(readFileSync(path)), "wav")
    const twice = await starling(fleet.home, "consents", "get", voice, "--out", path)
    assert.strictEqual(twice.code, 1)
    assert.include(twice.error, "EEXIST")
  })
})

describe("the log", () => {
  it("contains no name, no phrase and no token", () => {
    const log = fleet.fleet.log()
    for (const secret of [name, "Ada Lovelace", "I agree to have", fleet.token, other]) assert.notInclude(log, secret)
  })
})

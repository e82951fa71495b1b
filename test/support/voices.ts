/** People who clone their voices: recordings of the catalogue's voices, and the form for creating a voice. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { busServices, Kv, Nats } from "#bus"
import { Metrics, Role } from "#runtime"
import { ChallengeRecord, keyFor } from "../../services/speech-api/voices/records.ts"
import { type Asked, codeOf, type Heard, type SpeechFleet } from "./speech-fleet.ts"

/** The text of a sample; some fourteen seconds of speech. */
export const story =
  "The harbour wakes before the town does, and nobody minds. Boats come in with the tide, heavy with herring and " +
  "stories. By noon the market is loud, and the gulls are louder still. In the evening everyone walks home along the wall."

/** Voices that are recordings of people, which the recogniser knows. */
export type Speaker = "alan" | "roger" | "selma"

const rateHz = 24_000
const headerBytes = 44

/** Someone reads a text aloud. */
export const recorded = async (fleet: SpeechFleet, voice_id: Speaker, input: string): Promise<Buffer> => {
  const { status, body } = await fleet.call("/v1/audio/speech", { body: { voice_id, input, audio_format: "wav" } })
  assert.strictEqual(status, 200)
  return Buffer.from((body as { readonly audio_data: string }).audio_data, "base64")
}

export const samplesIn = (wav: Buffer): Int16Array => new Int16Array(Uint8Array.from(wav.subarray(headerBytes)).buffer)

export const wavOf = (samples: Int16Array): Buffer => {
  const header = Buffer.alloc(headerBytes)
  header.write("RIFF")
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rateHz, 24)
  header.writeUInt32LE(rateHz * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write("data", 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)])
}

/** So many seconds of it, from the beginning again where it is shorter. */
export const lasting = (wav: Buffer, seconds: number): Buffer => {
  const samples = samplesIn(wav)
  return wavOf(Int16Array.from({ length: seconds * rateHz }, (_, index) => samples[index % samples.length] ?? 0))
}

/** As from a microphone that is far too loud. */
export const clipped = (wav: Buffer): Buffer =>
  wavOf(samplesIn(wav).map((sample) => Math.max(-32_768, Math.min(32_767, sample * 40))))

export const silence = (seconds: number): Buffer => wavOf(new Int16Array(seconds * rateHz))

export interface Challenge {
  readonly id: string
  readonly phrase: string
  readonly expires_at: string
}

export const challengeFor = async (fleet: SpeechFleet, token = fleet.token): Promise<Challenge> => {
  const asked = { body: { full_name: "Ada Lovelace" }, token }
  const answer = await fleet.call("/v1/voices/consent-challenges", asked)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body as Challenge
}

export type Parts = Readonly<Record<string, string | Buffer | undefined>>

/** As client libraries send it: files are named blob and of no type. */
export const formOf = (parts: Parts): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(parts)) {
    if (value === undefined) continue
    if (typeof value === "string") form.append(name, value)
    else form.append(name, new Blob([Uint8Array.from(value)]), "blob")
  }
  return form
}

export const create = (fleet: SpeechFleet, parts: Parts, asked: Asked = {}): Promise<Heard> =>
  fleet.call("/v1/voices", { ...asked, method: "POST", body: formOf({ name: "Ada", gender: "female", ...parts }) })

const readingsMax = 4

/** Has a phrase read again when the recogniser does not make it out, which it does of some 24 of 25. */
export const onceHeard = async (read: () => Promise<Heard>): Promise<Heard> => {
  let answer = await read()
  for (let readings = 1; readings < readingsMax; readings++) {
    if (answer.status !== 422 || codeOf(answer) !== "consent_phrase_mismatch") break
    answer = await read()
  }
  return answer
}

/** The form parts of a speaker who has read a challenge's phrase. */
export const spokenParts = async (fleet: SpeechFleet, speaker: Speaker, token = fleet.token) => {
  const challenge = await challengeFor(fleet, token)
  return {
    sample: await recorded(fleet, speaker, story),
    consent_challenge_id: challenge.id,
    consent_recording: await recorded(fleet, speaker, challenge.phrase)
  }
}

/** A voice whose speaker has read the phrase; any status but 201 fails the test. */
export const cloned = async (
  fleet: SpeechFleet,
  speaker: Speaker,
  parts: Parts = {},
  token = fleet.token
): Promise<string> => {
  const answer = await onceHeard(async () =>
    create(fleet, { ...(await spokenParts(fleet, speaker, token)), ...parts }, { token })
  )
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return (answer.body as { readonly id: string }).id
}

/** Makes it seem that a challenge was given out long ago. */
export const agedChallenge = (fleet: SpeechFleet, id: string) => {
  // As the role that owns the challenges: no other may write one.
  const { url, user, password } = fleet.fleet.busAs("speech-api")
  const bus = busServices.pipe(
    Layer.provideMerge(Nats.layerWith({ servers: [url], name: "test", user, password: Redacted.make(password ?? "") })),
    Layer.provide(Metrics.layerTest),
    Layer.provide(Layer.succeed(Role, "speech-api"))
  )
  return Effect.runPromise(
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("consent-challenges", ChallengeRecord)
      const entry = yield* Effect.fromOption(yield* bucket.get(keyFor({ workspace: "default", id })))
      yield* bucket.update(entry.key, { ...entry.value, expiresAt: "2020-01-01T00:00:00.000Z" }, entry.revision)
    }).pipe(Effect.provide(bus))
  )
}

export interface Told {
  readonly code: string
  readonly message: string
  readonly fields?: Readonly<Record<string, string>>
  readonly details?: Readonly<Record<string, unknown>>
}

export const toldIn = ({ body }: Heard): Told => (body as { readonly error: Told }).error

/** Status and code of a refusal in one. */
export const refusalIn = (heard: Heard): string => `${heard.status} ${codeOf(heard)}`

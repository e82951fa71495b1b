/** Routes of voices: the catalogue, the workspace's own, and the consent by which one is cloned. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { idempotentCodes, readCodes, refusals } from "../error-codes.ts"
import { ConsentChallenge, ConsentChallengeRequest, VoiceForm } from "../voice-cloning.ts"
import { Voice, VoiceListOfAnyVersion, VoicesQuery } from "../voices.ts"

const ofVoice = { voice_id: Schema.String }

const sampleTypes = ["wav", "mpeg", "ogg", "flac", "mp4", "webm", "aac"].map((type) => `audio/${type}`)

export const VoicesGroup = HttpApiGroup.make("voices", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listVoices", "/v1/voices", {
      disableCodecs: true,
      query: VoicesQuery.fields,
      success: VoiceListOfAnyVersion,
      error: refusals(...readCodes, "validation_failed")
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "List the voices",
        description:
          "Those of the catalogue, and those that the workspace has cloned. Filters apply before pages are cut; voices are " +
          "ordered by id. Callers pinned to a version before 2026-07-07, and client libraries 0.x and 1.x that send none, " +
          "get a bare list instead of the object."
      })
    ),
    HttpApiEndpoint.get("getVoice", "/v1/voices/:voice_id", {
      disableCodecs: true,
      params: ofVoice,
      success: Voice,
      error: refusals(...readCodes, "voice_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "Fetch a voice",
        description: "By its id, percent-encoded. Another workspace's voice is answered as one that never was."
      })
    ),
    HttpApiEndpoint.post("createConsentChallenge", "/v1/voices/consent-challenges", {
      disableCodecs: true,
      payload: ConsentChallengeRequest,
      success: ConsentChallenge,
      error: refusals(...idempotentCodes)
    }).annotateMerge(
      described({
        scope: "voices:create",
        summary: "Start a consent",
        description:
          "Gives a phrase for one speaker to read. It is good for one create of the same workspace, until `expires_at`. " +
          "A workspace has so many in any hour; `RateLimit-*` say how many are left of how many, and in how many seconds " +
          "the next place becomes free.",
        example: { full_name: "Ada Lovelace" }
      })
    ),
    HttpApiEndpoint.post("createVoice", "/v1/voices", {
      disableCodecs: true,
      payload: VoiceForm.pipe(HttpApiSchema.asMultipartStream()),
      success: Voice.pipe(HttpApiSchema.status(201)),
      error: refusals(
        ...idempotentCodes,
        "forbidden",
        "too_many_voices",
        "request_timeout",
        "consent_challenge_not_found",
        "consent_challenge_expired",
        "consent_challenge_already_used",
        "consent_phrase_mismatch",
        "consent_speaker_mismatch",
        "consent_recording_unusable",
        "consent_verification_unavailable"
      )
    }).annotateMerge(
      described({
        scope: "voices:create",
        summary: "Clone a voice",
        description:
          "From a sample, once its speaker has been heard to consent. Any create that names a challenge uses it up, also one " +
          "that is refused; a replay, a 409 for the idempotency key and a form that cannot be read do not. Callers pinned to " +
          "a version before 2026-09-13, and client libraries 0.x and 1.x that send none, may send `consent` instead of a " +
          "challenge; their answers carry `Deprecation`, `Sunset` and `Link`, and from the day of `Sunset` on they are refused.",
        example: {
          name: "Ada",
          gender: "female",
          locale: "en-GB",
          sample: "@sample.wav",
          consent_challenge_id: "5f0c6c1e-7f43-4e43-9a3c-0a8f7be1c9d2",
          consent_recording: "@consent.wav"
        }
      })
    ),
    HttpApiEndpoint.delete("deleteVoice", "/v1/voices/:voice_id", {
      disableCodecs: true,
      params: ofVoice,
      success: HttpApiSchema.NoContent,
      error: refusals(...readCodes, "forbidden", "voice_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:delete",
        permission: "content.manage",
        summary: "Delete a cloned voice",
        description:
          "With its sample and its picture. The record of consent is kept. What is being spoken with it is spoken to its " +
          "end. Members need the permission `content.manage`, which owners, admins and members have."
      })
    ),
    HttpApiEndpoint.get("getVoiceSample", "/v1/voices/:voice_id/sample", {
      disableCodecs: true,
      params: ofVoice,
      success: HttpApiSchema.StreamUint8Array({ contentType: [...sampleTypes, "application/octet-stream"] }),
      error: refusals(...readCodes, "voice_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "Download the sample of a cloned voice",
        description: "The bytes that it was made from. A voice of the catalogue has none."
      })
    ),
    HttpApiEndpoint.get("getVoiceAvatar", "/v1/voices/:voice_id/avatar", {
      disableCodecs: true,
      params: ofVoice,
      success: HttpApiSchema.StreamUint8Array({ contentType: ["image/png", "image/jpeg", "image/webp"] }),
      error: refusals(...readCodes, "voice_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "Download the picture of a cloned voice",
        description: "Where `avatar_image` of the voice points."
      })
    )
  )
  .middleware(BearerToken)

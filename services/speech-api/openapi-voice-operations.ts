/** The operations of cloned voices as data. */
import { commonCodes, idempotentCodes } from "./openapi-errors.ts"
import type { Operation } from "./openapi-operations.ts"

const files = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "audio/webm", "audio/aac"]

export const voiceOperations: ReadonlyArray<Operation> = [
  {
    id: "createConsentChallenge",
    method: "POST",
    path: "/v1/voices/consent-challenges",
    summary: "Start a consent",
    description:
      "Gives a phrase for one speaker to read. It is good for one create of the same workspace, until `expires_at`. " +
      "A workspace has so many in any hour; `RateLimit-*` say how many are left of how many, and in how many seconds " +
      "the next place becomes free.",
    scopes: ["voices:create"],
    body: { schema: "ConsentChallengeRequest", example: { full_name: "Ada Lovelace" } },
    isIdempotent: true,
    answer: {
      _tag: "Json",
      schema: "ConsentChallenge",
      isTimed: false,
      headers: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    },
    codes: idempotentCodes
  },
  {
    id: "createVoice",
    method: "POST",
    path: "/v1/voices",
    summary: "Clone a voice",
    description:
      "From a sample, once its speaker has been heard to consent. Any create that names a challenge uses it up, also one " +
      "that is refused; a replay, a 409 for the idempotency key and a form that cannot be read do not. Callers pinned to " +
      "a version before 2026-09-13, and client libraries 0.x and 1.x that send none, may send `consent` instead of a " +
      "challenge; their answers carry `Deprecation`, `Sunset` and `Link`, and from the day of `Sunset` on they are refused.",
    scopes: ["voices:create"],
    body: {
      schema: "VoiceForm",
      example: {
        name: "Ada",
        gender: "female",
        locale: "en-GB",
        sample: "@sample.wav",
        consent_challenge_id: "5f0c6c1e-7f43-4e43-9a3c-0a8f7be1c9d2",
        consent_recording: "@consent.wav"
      },
      isForm: true
    },
    isIdempotent: true,
    status: 201,
    answer: {
      _tag: "Json",
      schema: "Voice",
      isTimed: false,
      headers: ["Location", "Deprecation", "Sunset", "Link"]
    },
    codes: [
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
    ]
  },
  {
    id: "deleteVoice",
    method: "DELETE",
    path: "/v1/voices/:voice_id",
    summary: "Delete a cloned voice",
    description:
      "With its sample and its picture. The record of consent is kept. What is being spoken with it is spoken to its " +
      "end. Members need the permission `content.manage`, which owners, admins and members have.",
    scopes: ["voices:delete"],
    status: 204,
    answer: { _tag: "Empty" },
    codes: [...commonCodes, "forbidden", "voice_not_found", "not_found"]
  },
  {
    id: "getVoiceSample",
    method: "GET",
    path: "/v1/voices/:voice_id/sample",
    summary: "Download the sample of a cloned voice",
    description: "The bytes that it was made from. A voice of the catalogue has none.",
    scopes: ["voices:read"],
    answer: { _tag: "File", mediaTypes: [...files, "application/octet-stream"] },
    codes: [...commonCodes, "voice_not_found", "not_found"]
  },
  {
    id: "getVoiceAvatar",
    method: "GET",
    path: "/v1/voices/:voice_id/avatar",
    summary: "Download the picture of a cloned voice",
    description: "Where `avatar_image` of the voice points.",
    scopes: ["voices:read"],
    answer: { _tag: "File", mediaTypes: ["image/png", "image/jpeg", "image/webp"] },
    codes: [...commonCodes, "voice_not_found", "not_found"]
  }
]

/**
 * The operations of the API as data: the request, the answer and the refusals of each. The document and the page are
 * made from it.
 */
import {
  commonCodes,
  type ErrorCodeName,
  type HeaderName,
  idempotentCodes,
  type SchemaName,
  speakingCodes
} from "./components.ts"

export interface Operation {
  readonly id: string
  readonly method: "GET" | "POST" | "DELETE"
  /** In the listener's form: `:name` for a segment. */
  readonly path: `/${string}`
  readonly summary: string
  readonly description: string
  /** Any one of them is enough; empty for what everybody may read. */
  readonly scopes: ReadonlyArray<string>
  readonly query?: "VoicesQuery"
  readonly body?: {
    readonly schema: SchemaName
    readonly example: Readonly<Record<string, unknown>>
    /** Sent as multipart/form-data; the example's values that begin with `@` are files. */
    readonly isForm?: true
  }
  /** May be repeated with an idempotency key. */
  readonly isIdempotent?: true
  /** The status of success; 200 unless given. */
  readonly status?: 201 | 204
  readonly answer: Answer
  readonly codes: ReadonlyArray<ErrorCodeName>
}

/** The answer of success. */
export type Answer =
  | {
      readonly _tag: "Json"
      readonly schema: SchemaName
      /** Callers pinned to an older version get a bare list of these instead. */
      readonly bareListOf?: SchemaName
      readonly isTimed: boolean
      readonly headers?: ReadonlyArray<HeaderName>
    }
  | { readonly _tag: "Document" }
  | { readonly _tag: "File"; readonly mediaTypes: ReadonlyArray<string> }
  | { readonly _tag: "Empty" }
  | { readonly _tag: "Audio" }
  | { readonly _tag: "Events"; readonly schemas: ReadonlyArray<SchemaName> }

const greeting = { voice_id: "selma", input: "Hello there. How are you?" }

const files = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "audio/webm", "audio/aac"]

/** The operations on cloned voices. */
const voiceOperations: ReadonlyArray<Operation> = [
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

export const operations: ReadonlyArray<Operation> = [
  {
    id: "createSpeech",
    method: "POST",
    path: "/v1/audio/speech",
    summary: "Speak a text",
    description:
      "The whole audio in one JSON answer, with marks for every word. The format is `output_format`, else that of " +
      "`audio_format`, else wav at 24 kHz. `Accept` does not matter.",
    scopes: ["audio:speech"],
    body: { schema: "SpeechRequest", example: { ...greeting, audio_format: "mp3", language: "en-US" } },
    answer: { _tag: "Json", schema: "SpeechResponse", isTimed: true },
    codes: speakingCodes
  },
  {
    id: "streamSpeech",
    method: "POST",
    path: "/v1/audio/stream",
    summary: "Speak a text, as a stream of audio",
    description:
      "Audio bytes as they are made. The format is `output_format`, else what `Accept` prefers, else mp3. " +
      "PCM is announced as audio/L16 with its rate and channels, but is little-endian. WAV cannot be streamed. " +
      "A connection that breaks before its last chunk means that the speech broke off.",
    scopes: ["audio:stream"],
    body: { schema: "StreamRequest", example: { ...greeting, model: "tts-3.2", output_format: "mp3_24000_64" } },
    answer: { _tag: "Audio" },
    codes: speakingCodes
  },
  {
    id: "streamSpeechWithTimestamps",
    method: "POST",
    path: "/v1/audio/stream/with-timestamps",
    summary: "Speak a text, as events with audio and word marks",
    description:
      "Server-sent events: join the `audio` of all `speech.chunk` events into one stream, and put all marks on its " +
      "one timeline. `speech.done` ends it; `speech.error` ends it when the speech broke off. Ignore events of other " +
      "types, and comments, which keep the connection alive. The format is chosen as for the plain stream; an `Accept` of text/event-stream takes any.",
    scopes: ["audio:stream"],
    body: { schema: "StreamRequest", example: { ...greeting, output_format: "pcm_16000" } },
    answer: { _tag: "Events", schemas: ["SpeechChunkEvent", "SpeechDoneEvent", "SpeechErrorEvent"] },
    codes: [...speakingCodes, "speech_marks_unsupported"]
  },
  {
    id: "createDialogue",
    method: "POST",
    path: "/v1/audio/dialogue",
    summary: "Speak a dialogue",
    description: "Several voices take turns in one audio. Marks carry the turn; their places are in that turn's input.",
    scopes: ["audio:speech"],
    body: {
      schema: "DialogueRequest",
      example: {
        turns: [greeting, { voice_id: "roger", input: "Very well, thank you." }],
        output_format: "ogg_24000"
      }
    },
    answer: { _tag: "Json", schema: "SpeechResponse", isTimed: true },
    codes: speakingCodes
  },
  {
    id: "listModels",
    method: "GET",
    path: "/v1/audio/models",
    summary: "List the models",
    description: "All of them at once.",
    scopes: ["audio:speech", "audio:stream", "voices:read"],
    answer: { _tag: "Json", schema: "ModelList", isTimed: false },
    codes: commonCodes
  },
  {
    id: "listVoices",
    method: "GET",
    path: "/v1/voices",
    summary: "List the voices",
    description:
      "Those of the catalogue, and those that the workspace has cloned. Filters apply before pages are cut; voices are " +
      "ordered by id. Callers pinned to a version before 2026-07-07, " +
      "and client libraries 0.x and 1.x that send none, get a bare list instead of the object.",
    scopes: ["voices:read"],
    query: "VoicesQuery",
    answer: { _tag: "Json", schema: "VoiceList", bareListOf: "Voice", isTimed: false },
    codes: [...commonCodes, "validation_failed"]
  },
  {
    id: "getVoice",
    method: "GET",
    path: "/v1/voices/:voice_id",
    summary: "Fetch a voice",
    description: "By its id, percent-encoded. Another workspace's voice is answered as one that never was.",
    scopes: ["voices:read"],
    answer: { _tag: "Json", schema: "Voice", isTimed: false },
    codes: [...commonCodes, "voice_not_found", "not_found"]
  },
  ...voiceOperations,
  {
    id: "getDescription",
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    description: "OpenAPI 3.1, for everybody.",
    scopes: [],
    answer: { _tag: "Document" },
    codes: ["internal_error"]
  }
]

/** The operations of the API as data: what each takes, answers and refuses. The document and the page tell them. */
import { commonCodes, type ErrorCodeName, speakingCodes } from "./openapi-errors.ts"
import type { HeaderName } from "./openapi-headers.ts"
import type { SchemaName } from "./openapi-schemas.ts"
import { voiceOperations } from "./openapi-voice-operations.ts"

export interface Operation {
  readonly id: string
  readonly method: "GET" | "POST" | "DELETE"
  /** As the listener knows it: `:name` for a segment. */
  readonly path: `/${string}`
  readonly summary: string
  readonly description: string
  /** Any one of them will do; none for what everybody may read. */
  readonly scopes: ReadonlyArray<string>
  readonly query?: "VoicesQuery"
  readonly body?: {
    readonly schema: SchemaName
    readonly example: Readonly<Record<string, unknown>>
    /** Sent as multipart/form-data; the example's values that begin with `@` are files. */
    readonly isForm?: true
  }
  /** May be repeated with a key. */
  readonly isIdempotent?: true
  /** Of success; 200 unless it is told. */
  readonly status?: 201 | 204
  readonly answer: Answer
  readonly codes: ReadonlyArray<ErrorCodeName>
}

/** What success brings. */
export type Answer =
  | {
      readonly _tag: "Json"
      readonly schema: SchemaName
      /** What callers of old get instead: a list of these. */
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

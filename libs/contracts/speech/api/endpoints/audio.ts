/** Routes that speak: a whole answer, a stream of bytes, a stream with speech marks, a dialogue; and their models. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { streamedMediaTypes } from "../../formats.ts"
import { readCodes, refusals, speakingCodes } from "../error-codes.ts"
import { DialogueRequest, SpeechEvent, SpeechRequest, SpeechResponse, StreamRequest } from "../speech.ts"
import { ModelList } from "../voices.ts"

const greeting = { voice_id: "selma", input: "Hello there. How are you?" }

export const AudioGroup = HttpApiGroup.make("audio", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createSpeech", "/v1/audio/speech", {
      disableCodecs: true,
      payload: SpeechRequest,
      success: SpeechResponse,
      error: refusals(...speakingCodes)
    }).annotateMerge(
      described({
        scope: "audio:speech",
        summary: "Speak a text",
        description:
          "The whole audio in one JSON answer, with marks for every word. The format is `output_format`, else that of " +
          "`audio_format`, else wav at 24 kHz. `Accept` does not matter.",
        example: { ...greeting, audio_format: "mp3", language: "en-US" }
      })
    ),
    HttpApiEndpoint.post("streamSpeech", "/v1/audio/stream", {
      disableCodecs: true,
      payload: StreamRequest,
      success: HttpApiSchema.StreamUint8Array({ contentType: streamedMediaTypes }),
      error: refusals(...speakingCodes)
    }).annotateMerge(
      described({
        scope: "audio:stream",
        summary: "Speak a text, as a stream of audio",
        description:
          "Audio bytes as they are made. The format is `output_format`, else what `Accept` prefers, else mp3. " +
          "PCM is announced as audio/L16 with its rate and channels, but is little-endian. WAV cannot be streamed. " +
          "A connection that breaks before its last chunk means that the speech broke off.",
        example: { ...greeting, model: "tts-3.2", output_format: "mp3_24000_64" }
      })
    ),
    HttpApiEndpoint.post("streamSpeechWithTimestamps", "/v1/audio/stream/with-timestamps", {
      disableCodecs: true,
      payload: StreamRequest,
      success: HttpApiSchema.StreamSse({ data: SpeechEvent }),
      error: refusals(...speakingCodes, "speech_marks_unsupported")
    }).annotateMerge(
      described({
        scope: "audio:stream",
        summary: "Speak a text, as events with audio and word marks",
        description:
          "Server-sent events: join the `audio` of all `speech.chunk` events into one stream, and put all marks on its one " +
          "timeline. `speech.done` ends it; `speech.error` ends it when the speech broke off. Ignore events of other types, " +
          "and comments, which keep the connection alive. The format is chosen as for the plain stream; an `Accept` of " +
          "text/event-stream takes any.",
        example: { ...greeting, output_format: "pcm_16000" }
      })
    ),
    HttpApiEndpoint.post("createDialogue", "/v1/audio/dialogue", {
      disableCodecs: true,
      payload: DialogueRequest,
      success: SpeechResponse,
      error: refusals(...speakingCodes)
    }).annotateMerge(
      described({
        scope: "audio:speech",
        summary: "Speak a dialogue",
        description:
          "Several voices take turns in one audio. Marks carry the turn; their places are in that turn's input.",
        example: {
          turns: [greeting, { voice_id: "roger", input: "Very well, thank you." }],
          output_format: "ogg_24000"
        }
      })
    ),
    HttpApiEndpoint.get("listModels", "/v1/audio/models", {
      disableCodecs: true,
      success: ModelList,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: ["audio:speech", "audio:stream", "voices:read"],
        summary: "List the models",
        description: "All of them at once."
      })
    )
  )
  .middleware(BearerToken)

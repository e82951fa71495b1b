/**
 * The complete speech API: every route with its shapes, scopes and refusals. Server, documents and clients follow it.
 * It is separate from `#speech/contract`, because it loads HttpApi.
 */
import { Context, Effect } from "effect"
import { HttpApi, HttpApiClient, OpenApi } from "effect/http-api"
import { clientToken, DescriptionGroup } from "#base/http"
import { SpeechErrorEnvelope } from "./error-codes.ts"
import { OpenAiSpeechEvent, OpenAiSpeechRequest } from "./openai.ts"
import { cartesiaErrors, CartesiaGroup } from "./cartesia.ts"
import { elevenLabsErrors, ElevenLabsGroup } from "./elevenlabs.ts"
import { JobsGroup } from "./jobs.ts"
import { LexiconsGroup } from "./lexicons.ts"
import { AudioGroup } from "./speech.ts"
import { VoicesGroup } from "./voices.ts"
import { HttpClient } from "effect/http"

export * from "./cartesia.ts"
export * from "./elevenlabs.ts"
export * from "./jobs.ts"
export * from "./lexicons.ts"
export * from "./live.ts"
export * from "./live-vendors.ts"
export * from "./openai.ts"
export * from "./speech.ts"
export * from "./voices.ts"
export { speechErrorCodes, speechErrorType } from "./error-codes.ts"

/** The date for a caller that names none. */
export const newestVersion = "2026-09-30"

export const SpeechHttpApi = HttpApi.make("speech")
  .add(AudioGroup, JobsGroup, VoicesGroup, LexiconsGroup, ElevenLabsGroup, CartesiaGroup, DescriptionGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling speech",
      version: newestVersion,
      description: "Text to speech: whole, streamed, and streamed with word marks.",
      servers: [{ url: "/" }]
    })
  )
  .annotateMerge(
    Context.make(HttpApi.AdditionalSchemas, [
      SpeechErrorEnvelope,
      OpenAiSpeechRequest,
      OpenAiSpeechEvent,
      ...elevenLabsErrors,
      ...cartesiaErrors
    ])
  )

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** A typed client of the API. A refusal fails with its envelope. Needs an `HttpClient`. */
export const speechClient = (options: ClientOptions) =>
  Effect.flatMap(HttpClient.HttpClient, (httpClient) => speechClientOver(httpClient, options))

/** Calls through this HTTP client, and fails as it does. */
export const speechClientOver = <E, R>(httpClient: HttpClient.HttpClient.With<E, R>, { url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.makeWith(SpeechHttpApi, { httpClient, baseUrl: url }), clientToken(token))

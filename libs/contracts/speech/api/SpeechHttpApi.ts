/**
 * The whole speech API: every route with its shapes, scopes and refusals. Server, documents and clients follow it.
 */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { DescriptionGroup } from "../../http/declaration.ts"
import { ErrorEnvelope } from "../../http/error-envelope.ts"
import { AudioGroup } from "./endpoints/audio.ts"
import { VoicesGroup } from "./endpoints/voices.ts"

/** The date to which a caller is pinned that names none. */
export const newestVersion = "2026-09-13"

export const SpeechHttpApi = HttpApi.make("speech")
  .add(AudioGroup, VoicesGroup, DescriptionGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling speech",
      version: newestVersion,
      description: "Text to speech: whole, streamed, and streamed with word marks.",
      servers: [{ url: "/" }]
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, [ErrorEnvelope]))

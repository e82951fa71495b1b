/**
 * A typed client of the speech API, made from its declaration. A refusal fails with its envelope. The events of a
 * stream fail at a type that is not declared; a client that outlives its server's version reads them itself.
 */
import { Effect } from "effect"
import { HttpApiClient } from "effect/http-api"
import { clientToken } from "../../http/client-token.ts"
import { SpeechHttpApi } from "./SpeechHttpApi.ts"

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Needs an `HttpClient`. */
export const speechClient = ({ url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.make(SpeechHttpApi, { baseUrl: url }), clientToken(token))

/** A typed client of the speech API, made from its declaration. A refusal fails with its envelope. */
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { clientToken } from "../../http/client-token.ts"
import { SpeechHttpApi } from "./SpeechHttpApi.ts"

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Needs an `HttpClient`. */
export const speechClient = (options: ClientOptions) =>
  Effect.flatMap(HttpClient.HttpClient, (httpClient) => speechClientOver(httpClient, options))

/** Calls by this HTTP client, and fails as it does. */
export const speechClientOver = <E, R>(httpClient: HttpClient.HttpClient.With<E, R>, { url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.makeWith(SpeechHttpApi, { httpClient, baseUrl: url }), clientToken(token))

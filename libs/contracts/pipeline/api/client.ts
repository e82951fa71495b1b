/** A typed client of the pipeline's API, made from its declaration. A refusal fails with its envelope. */
import { Effect } from "effect"
import { HttpApiClient } from "effect/http-api"
import { clientToken } from "../../http/client-token.ts"
import { PipelineHttpApi } from "./PipelineHttpApi.ts"

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Needs an `HttpClient`. */
export const pipelineClient = ({ url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.make(PipelineHttpApi, { baseUrl: url }), clientToken(token))

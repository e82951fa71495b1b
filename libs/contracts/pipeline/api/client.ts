/** A typed client of the pipeline's API, made from its declaration. A refusal fails with its envelope. */
import { Context, Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { BearerToken } from "../../http/declaration.ts"
import { PipelineHttpApi } from "./PipelineHttpApi.ts"

/** What a request of the client may be repeated by, and is then carried out once; none unless it is provided. */
export const IdempotencyKey = Context.Reference<string | undefined>("starling/contracts/IdempotencyKey", {
  defaultValue: () => undefined
})

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Asks for an `HttpClient`. */
export const pipelineClient = ({ url, token }: ClientOptions) =>
  Effect.provide(
    HttpApiClient.make(PipelineHttpApi, { baseUrl: url }),
    HttpApiMiddleware.layerClient(BearerToken, ({ next, request }) =>
      Effect.flatMap(IdempotencyKey, (key) => next(keyed(HttpClientRequest.bearerToken(request, token), key)))
    )
  )

const keyed = (request: HttpClientRequest.HttpClientRequest, key: string | undefined) =>
  key === undefined ? request : HttpClientRequest.setHeader(request, "idempotency-key", key)

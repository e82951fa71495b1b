/** A typed client of the pipeline's API, made from its declaration. A refusal fails with its envelope. */
import { Context, Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { BearerToken } from "../../http/declaration.ts"
import { PipelineHttpApi } from "./PipelineHttpApi.ts"

/** The key under which a request may be repeated and is still carried out once. Without one the client sends none. */
export const IdempotencyKey = Context.Reference<string | undefined>("starling/contracts/IdempotencyKey", {
  defaultValue: () => undefined
})

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Needs an `HttpClient`. */
export const pipelineClient = ({ url, token }: ClientOptions) =>
  Effect.provide(
    HttpApiClient.make(PipelineHttpApi, { baseUrl: url }),
    HttpApiMiddleware.layerClient(BearerToken, ({ next, request }) =>
      Effect.flatMap(IdempotencyKey, (key) => next(keyed(HttpClientRequest.bearerToken(request, token), key)))
    )
  )

const keyed = (request: HttpClientRequest.HttpClientRequest, key: string | undefined) =>
  key === undefined ? request : HttpClientRequest.setHeader(request, "idempotency-key", key)

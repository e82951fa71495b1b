/** What the clients of our declared APIs share: the caller's token, and the key of a request that may be repeated. */
import { Context, Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { BearerToken } from "./declaration.ts"

/** The key under which a request may be repeated and is still carried out once. Without one the client sends none. */
export const IdempotencyKey = Context.Reference<string | undefined>("starling/contracts/IdempotencyKey", {
  defaultValue: () => undefined
})

/** Has a client send this token. */
export const clientToken = (token: string) =>
  HttpApiMiddleware.layerClient(BearerToken, ({ next, request }) =>
    Effect.flatMap(IdempotencyKey, (key) => next(keyed(HttpClientRequest.bearerToken(request, token), key)))
  )

const keyed = (request: HttpClientRequest.HttpClientRequest, key: string | undefined) =>
  key === undefined ? request : HttpClientRequest.setHeader(request, "idempotency-key", key)

/** A typed client of the operators' API, made from its declaration. A refusal fails with its envelope. */
import { Effect } from "effect"
import { HttpApiClient } from "effect/http-api"
import { clientToken } from "../../http/declaration.ts"
import { ConsoleHttpApi } from "./ConsoleHttpApi.ts"

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** Needs an `HttpClient`. */
export const consoleClient = ({ url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.make(ConsoleHttpApi, { baseUrl: url }), clientToken(token))

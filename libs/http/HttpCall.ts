/** The facts of the request that is being answered, for its handler. */
import { Context, Effect, type Option, Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { fieldsOf } from "./decode-faults.ts"
import { validationFailed } from "./wire-errors.ts"

export class HttpCall extends Context.Service<
  HttpCall,
  {
    readonly requestId: string
    readonly method: string
    /** The pattern, as in `/v1/voices/:voice_id`. */
    readonly route: string
    /** Percent-decoded. */
    readonly params: Readonly<Record<string, string | undefined>>
    readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
    readonly remoteAddress: string
    /** By its name in lower case. */
    readonly header: (name: string) => Option.Option<string>
  }
>()("starling/http/HttpCall") {}

/** What every handler may ask for. The scope ends when the last byte is out, or the caller gone. */
export type PerCall = HttpCall | HttpServerRequest.HttpServerRequest | Scope.Scope

const decodeFrom = (part: "params" | "query") =>
  Effect.fnUntraced(function* <A, I>(schema: Schema.Codec<A, I>) {
    const call = yield* HttpCall
    const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
    return yield* Effect.mapError(decode(call[part]), ({ issue }) => validationFailed(fieldsOf(issue)))
  })

export const readParams = decodeFrom("params")
export const readQuery = decodeFrom("query")

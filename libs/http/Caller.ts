/** Who calls, known by a token, and what for. */
import { Context, Effect } from "effect"
import type { ApiScope } from "./scopes.ts"
import type { TokenRecord } from "./Tokens.ts"
import { insufficientScope } from "./wire-errors.ts"

export class Caller extends Context.Service<
  Caller,
  {
    readonly tokenId: string
    readonly workspace: string
    readonly kind: TokenRecord["kind"]
    readonly role: TokenRecord["role"]
    readonly may: (scope: ApiScope) => boolean
  }
>()("starling/http/Caller") {}

/** Any one of the scopes will do. */
export const requireScope = Effect.fnUntraced(function* (...scopes: ReadonlyArray<ApiScope>) {
  const caller = yield* Caller
  if (!scopes.some((scope) => caller.may(scope))) return yield* insufficientScope(scopes)
})

/** Bearer tokens as owners see and make them. A token itself is shown once, to its maker. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { describe, isName, pageQuery, text, Timestamp, tokenLifetimeMsDefault, tokenLimits } from "#base"
import { guarded } from "#base/http"
import { newestFirstPage, Reason, act, read } from "./parts.ts"

const Kind = Schema.Literals(["member", "service"])
const TokenRole = Schema.Literals(["owner", "admin", "member", "viewer"])

export const TokenView = Schema.Struct({
  id: Schema.String.pipe(describe("As the audit log names it; it is no secret.")),
  label: Schema.NullOr(Schema.String),
  workspace: Schema.String,
  kind: Kind.pipe(describe("A member's token may what its role and its scopes allow, a service's what its scopes do.")),
  role: TokenRole,
  scopes: Schema.Array(Schema.String),
  state: Schema.Literals(["valid", "expired", "revoked"]),
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp).pipe(describe("Null for one that does not expire.")),
  revokedAt: Schema.NullOr(Timestamp),
  lastUsedAt: Schema.NullOr(Timestamp).pipe(describe("To within an hour; null for one that was never used.")),
  isOfHome: Schema.Boolean.pipe(describe("The owner's token that `./starling up` keeps for its home."))
}).annotate({ identifier: "TokenView" })
export interface TokenView extends Schema.Schema.Type<typeof TokenView> {}

export const TokenPage = newestFirstPage("TokenPage", TokenView, "Tokens")

const lifetimeSecondsMax = tokenLimits.lifetimeMsMax / 1_000

export const MakeToken = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log.")),
  label: Schema.String.check(Schema.isBetweenLength(1, tokenLimits.labelCharactersMax), isName).pipe(
    describe("What you call it, to know it again in the list.")
  ),
  kind: Schema.optionalKey(Kind).pipe(describe("`member` without it.")),
  role: Schema.optionalKey(TokenRole).pipe(describe("Of a member; without it the least that the scopes need.")),
  scopes: Schema.optionalKey(Schema.Array(text(64)).check(Schema.isMaxLength(tokenLimits.scopesMax))).pipe(
    describe(
      "Scopes, families as `audio:*`, verbs as `*:read`, or `*`. Without any, all that the role may; of a service, to read."
    )
  ),
  lifetimeSeconds: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: lifetimeSecondsMax })))
  ).pipe(
    describe(`When it ends; ${tokenLifetimeMsDefault / 86_400_000} days without it, and null for one that does not.`)
  )
}).annotate({ identifier: "MakeToken" })

export const MadeToken = Schema.Struct({
  token: Schema.String.pipe(describe("The token itself. It is shown this once, and kept nowhere.")),
  ...TokenView.fields
}).annotate({ identifier: "MadeToken" })

export const TokensGroup = guarded(
  "tokens",
  read("listTokens", "/tokens", {
    query: pageQuery,
    success: TokenPage,
    scope: "tokens:manage",
    summary: "List tokens",
    description: "Those of the caller's workspace. One that ended stays for thirty days."
  }),
  act("makeToken", "/tokens", {
    payload: MakeToken,
    success: MadeToken.pipe(HttpApiSchema.status(201)),
    refused: ["conflict"],
    scope: "tokens:manage",
    summary: "Make a token",
    description:
      "In the caller's workspace, with no right that the caller's own token lacks: more is `insufficient_scope`. The token " +
      "itself is in this answer alone.",
    example: { reason: "a build server", label: "ci", scopes: ["console:read"], lifetimeSeconds: 2_592_000 }
  }),
  act("revokeToken", "/tokens/:id/revoke", {
    success: TokenView,
    scope: "tokens:manage",
    summary: "Revoke a token",
    description: "One of the caller's workspace, for good. It is refused everywhere within five seconds.",
    example: { reason: "its laptop was stolen" }
  })
)

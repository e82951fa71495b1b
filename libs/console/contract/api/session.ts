/**
 * Sessions of the console's page: a token in a cookie that no script can read, obtained with a one-time code or a
 * token.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded, endpointsFor } from "#base/http"
import { describe, text, Timestamp } from "#base"
import { consoleErrorCodes, act } from "./parts.ts"

/** The APIs to which a console can proxy calls. */
export const proxiedApis = ["pipeline", "models", "speech"] as const
export type ProxiedApi = (typeof proxiedApis)[number]

export const Session = Schema.Struct({
  label: Schema.String.pipe(describe("Who this is, for the page to show.")),
  scopes: Schema.Array(Schema.String).pipe(describe("Every scope that it may use.")),
  expiresAt: Schema.NullOr(Timestamp).pipe(describe("Null for one that ends with its token alone.")),
  apis: Schema.Array(Schema.Literals(proxiedApis)).pipe(
    describe("The APIs that answer under `/apis/<name>` of this origin.")
  ),
  paysForTrials: Schema.Boolean.pipe(describe("Whether the fleet pays for trials with the key of a local chain."))
}).annotate({ identifier: "Session" })
export interface Session extends Schema.Schema.Type<typeof Session> {}

const secret = text(512)

export const SignIn = Schema.Union([
  Schema.Struct({ code: secret.pipe(describe("As the page's address has it after `#code=`. It counts once.")) }),
  Schema.Struct({ token: secret.pipe(describe("Any token; its scopes are the session's.")) })
]).annotate({ identifier: "SignIn" })

export const SignInCode = Schema.Struct({
  code: Schema.String.pipe(describe("For the page's address, after `#code=`. It counts once.")),
  expiresAt: Timestamp
}).annotate({ identifier: "SignInCode" })

const open = endpointsFor({
  table: consoleErrorCodes,
  always: [
    "bad_request",
    "validation_failed",
    "unauthorized",
    "foreign_origin",
    "payload_too_large",
    "unsupported_media_type",
    "conflict",
    "misdirected_request",
    "rate_limited",
    "internal_error",
    "service_unavailable"
  ]
})()

export const SessionGroup = guarded(
  "session",
  act("makeSignInCode", "/session/codes", {
    success: SignInCode.pipe(HttpApiSchema.status(201)),
    refused: ["conflict"],
    scope: "tokens:manage",
    summary: "Make a sign-in code",
    description:
      "It signs one browser in within ten minutes, with the caller's rights and for twelve hours at most. " +
      "`./starling console` makes one.",
    example: { reason: "to look at the page" }
  })
).add(
  open.read("getSession", "/session", {
    success: Schema.NullOr(Session),
    summary: "Get the session",
    description:
      "Of this cookie or token; null where there is none. Where an authenticating proxy in front names and proves a person " +
      "(`Console.PageProxyHeader`), it begins that person's session, and sets the cookie."
  }),
  open.act("signIn", "/session", {
    payload: SignIn,
    success: Session,
    summary: "Sign in",
    description:
      "Sets a cookie that no script can read, for calls of the console's own page. Only that page may call it. A code makes a " +
      "token of its own for twelve hours.",
    example: { code: "4dA0Wc9iS1uB3mXq7ZkTfw" }
  }),
  open.remove("signOut", "/session", {
    summary: "Sign out",
    description: "Takes the cookie back, and revokes the token that a code made. A token of one's own stays."
  })
)

/** `token`: bearer tokens of our own APIs. `consents`: the consents to voice cloning. */
import * as Effect from "effect/Effect"
import { Command, Flag } from "effect/cli"
import { choice, cursor, json, limit, nats, ofList, reason, running, text, texts, word } from "../flags.ts"

const loadTokens = () => import("../tokens.ts")

const tokenFamily = Command.make("token").pipe(
  Command.withSharedFlags({ json, nats }),
  Command.withShortDescription("create, list and revoke API tokens"),
  Command.withDescription("Bearer tokens for the fleet's own APIs.")
)

const make = Command.make(
  "make",
  {
    label: text("label", "TEXT", "a name that you will recognize in the list"),
    expires: Flag.String("expires").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("when it expires: 12h, 30d, 26w, or never (90d)"),
      // A forgotten token expires by itself; a user in need of one makes another in time.
      Flag.withDefault("90d")
    ),
    role: choice("role", ["viewer", "member", "admin", "owner"], "its role (the least that its scopes need)"),
    scope: texts("scope", "SCOPE", "what it may do, repeatable (all that its role may; a service account may read)"),
    workspace: text("workspace", "NAME", "the workspace that it belongs to (Fleet.Workspace)"),
    kind: Flag.Literals("kind", ["member", "service"]).pipe(
      Flag.withDescription("member: role and scopes must both allow a call; service: only scopes decide"),
      Flag.withDefault("member")
    ),
    reason
  },
  (given) =>
    Effect.flatMap(tokenFamily, (shared) => running(loadTokens, ({ makeToken }) => makeToken({ ...given, ...shared })))
).pipe(
  Command.withDescription(
    "Creates a token and prints it once, as the only output. By default it may only read, and it expires after ninety days."
  ),
  Command.withExamples([
    {
      command: 'starling token make --label "build server" --scope pipeline:write --scope pipeline:read --expires 26w'
    },
    { command: "starling token make --label ci --role member --expires 30d" }
  ])
)

const tokenList = Command.make("list", { limit, cursor }, (given) =>
  Effect.flatMap(tokenFamily, (shared) => running(loadTokens, ({ listTokens }) => listTokens({ ...given, ...shared })))
).pipe(
  Command.withDescription(
    "Tokens, oldest first: whose they are, what they may do, their age, when they expire, and when they were last used, to within an hour."
  )
)

const revoke = Command.make(
  "revoke",
  { id: word("id", "its id in the list, or the key of an unreadable record, which is removed"), reason },
  (given) =>
    Effect.flatMap(tokenFamily, (shared) =>
      running(loadTokens, ({ revokeToken }) => revokeToken({ ...given, ...shared }))
    )
).pipe(Command.withDescription("Revokes a token. It is refused everywhere within five seconds."))

export const token = tokenFamily.pipe(Command.withSubcommands([make, tokenList, revoke]))

const loadConsents = () => import("../consents.ts")

const consentsFamily = Command.make("consents", ofList).pipe(
  Command.withSharedFlags({ workspace: text("workspace", "NAME", "only those of this workspace"), nats }),
  Command.withHandler((given) => running(loadConsents, ({ listConsents }) => listConsents(given))),
  Command.withShortDescription("list who consented to voice cloning, and save recordings"),
  Command.withDescription(
    "Who consented to have a voice cloned, and how strong the proof is. Consents of deleted voices are kept and listed too. Without a command, the list."
  )
)

const consentsList = Command.make("list", ofList, (given) =>
  Effect.flatMap(consentsFamily, (shared) =>
    running(loadConsents, ({ listConsents }) => listConsents({ ...shared, ...given }))
  )
).pipe(Command.withDescription("Consents, a line each."))

const get = Command.make(
  "get",
  {
    id: word("voice-id", "of the list"),
    out: Flag.File("out").pipe(Flag.withMetavar("FILE"), Flag.withDescription("a new file that only you can read"))
  },
  (given) =>
    Effect.flatMap(consentsFamily, ({ workspace, nats }) =>
      running(loadConsents, ({ saveConsent }) => saveConsent({ ...given, workspace, nats }))
    )
).pipe(
  Command.withDescription("Writes the recording of a consent to a file."),
  Command.withExamples([{ command: "starling consents get 3f8a1c0de4b7 --out consent.wav" }])
)

export const consents = consentsFamily.pipe(Command.withSubcommands([consentsList, get]))

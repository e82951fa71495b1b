/**
 * `token make | list | revoke <id>`: bearer tokens of our own APIs. What is made may read and ends after ninety days,
 * unless more is asked for. The token itself is shown once, alone on standard output; the rest goes beside it.
 */
import { Clock, Effect, Layer, Schema } from "effect"
import {
  apiScopes,
  grantsBeyond,
  type IssuedToken,
  leastRole,
  roleScopes,
  TokenRecord,
  type TokenRequest,
  Tokens,
  TokenUses,
  unknownGrants
} from "#http"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { readLifetime, span } from "./lifetime.ts"
import { readParameters } from "./parameters.ts"
import { leave, misused } from "./say-stopped.ts"
import { byAge, tokenJson, tokenTable } from "./token-list.ts"

// A token that nobody thinks of any more ends by itself; who goes on using one makes another in time.
const lifetimeDefault = "90d"
const labelCharactersMax = 100

const help = `usage: ./starling token <command>

  make          make a token; it is shown this once, alone on standard output
    --label L       what you call it, to know it again in the list
    --expires T     when it ends: 12h, 30d, 26w, or never (${lifetimeDefault})
    --role R        viewer, member, admin or owner (the least that the scopes need; viewer without scopes)
    --scope S       what it may do, again for each (all that its role may; of a service account to read)
    --workspace W   whose it is (default)
    --kind K        member, whose role and scopes must both allow a call, or service, whose scopes alone do (member)
    --json          the whole token as one line of JSON, its id and its end too
  list          every token: id, label, workspace, role, scopes, age, end, last use to within an hour [--json]
  revoke <id>   end a token; it is refused everywhere within five seconds

scopes: ${apiScopes.join(", ")};
        a family as audio:*, a verb as *:read, or * for all`

export const token = (parameters: ReadonlyArray<string>) =>
  runCommand(Effect.catchTag(tokenCommand(parameters), "SayStopped", leave))

const read = (parameters: ReadonlyArray<string>) =>
  readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      workspace: { type: "string", default: "default" },
      kind: { type: "string", default: "member" },
      role: { type: "string" },
      scope: { type: "string", multiple: true, default: [] },
      label: { type: "string" },
      expires: { type: "string", default: lifetimeDefault },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      nats: { type: "string" }
    }
  })
type Given = Effect.Success<ReturnType<typeof read>>["values"]

const tokenCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* read(parameters)
  if (values.help) return yield* print(help)
  const [verb, ...rest] = positionals
  const act = yield* actOf(verb, rest, values)
  const stored = Layer.mergeAll(Tokens.layer, TokenUses.layer).pipe(Layer.provideMerge(busOf(values.nats)))
  yield* Effect.provide(act, stored)
})

const actOf = Effect.fnUntraced(function* (verb: string | undefined, rest: ReadonlyArray<string>, values: Given) {
  const [id] = rest
  if (verb === "make" && rest.length === 0) return make(yield* requestOf(values), values.json)
  if (verb === "list" && rest.length === 0) return list(values.json)
  if (verb === "revoke" && id !== undefined && rest.length === 1) return revoke(id)
  return yield* misused(`token takes make, list, or revoke <id>\n\n${help}`)
})

const make = Effect.fnUntraced(function* (request: TokenRequest, isJson: boolean) {
  const issued = yield* (yield* Tokens).make(request)
  if (isJson) return yield* print(JSON.stringify({ ...tokenJson(issued.record, undefined), token: issued.token }))
  yield* print(issued.token)
  // Beside the token, so that a script reads that alone.
  yield* Effect.sync(() => void process.stderr.write(`${noteOf(issued, request.lifetimeMs)}\n`))
})

const noteOf = ({ record }: IssuedToken, lifetimeMs: number | undefined) => {
  const end = lifetimeMs === undefined ? "it does not end by itself" : `it ends in ${span(lifetimeMs)}`
  const who = record.kind === "service" ? "service account" : record.role
  return `token ${record.id}: ${who} of ${record.workspace}, scopes ${record.scopes.join(",")}; ${end}`
}

const list = Effect.fnUntraced(function* (isJson: boolean) {
  const tokens = yield* Tokens
  const [records, uses] = yield* Effect.all([tokens.list, (yield* TokenUses).all], { concurrency: 2 })
  const lines = isJson
    ? byAge(records).map((record) => JSON.stringify(tokenJson(record, uses.get(record.id))))
    : tokenTable(records, uses, yield* Clock.currentTimeMillis)
  yield* Effect.forEach(lines, print, { discard: true })
})

const revoke = Effect.fnUntraced(function* (id: string) {
  const record = yield* (yield* Tokens).revoke(id)
  yield* print(`${record.id} is revoked since ${record.revokedAt}`)
})

const requestOf = Effect.fnUntraced(function* (values: Given) {
  const unknown = unknownGrants(values.scope)
  if (unknown.length > 0) {
    const known = `${apiScopes.join(", ")}; a family as audio:*, a verb as *:read, or *`
    return yield* new CommandRefused({ reason: `--scope ${unknown.join(", ")}? it is one of: ${known}` })
  }
  const { kind, role } = yield* readKind({ kind: values.kind, role: values.role ?? leastRole(values.scope) })
  const beyond = kind === "service" ? [] : grantsBeyond(role, values.scope)
  if (beyond.length > 0) {
    const reason = `--scope ${beyond.join(", ")} is more than a ${role} may, which is ${roleScopes[role].join(", ")}`
    return yield* new CommandRefused({ reason })
  }
  const all = kind === "service" ? roleScopes.viewer : ["*"]
  const scopes = values.scope.length === 0 ? all : values.scope
  const label = yield* readLabel(values.label)
  const lifetime = readLifetime(values.expires)
  if (lifetime === "refused") {
    const reason = `--expires ${values.expires}? it is a lifetime such as 12h, 30d or 26w, at most 3650d, or never`
    return yield* new CommandRefused({ reason })
  }
  const { lifetimeMs } = lifetime
  const request: TokenRequest = {
    workspace: values.workspace,
    kind,
    role,
    scopes,
    ...(label === undefined ? {} : { label }),
    ...(lifetimeMs === undefined ? {} : { lifetimeMs })
  }
  return request
})

const readLabel = Effect.fnUntraced(function* (label: string | undefined) {
  if (label === undefined) return undefined
  // A list is lines of a terminal.
  const isFit = label !== "" && label.length <= labelCharactersMax && !/\p{Cc}/u.test(label)
  if (isFit) return label
  return yield* new CommandRefused({
    reason: `--label is 1 to ${labelCharactersMax} characters, none of which controls a terminal`
  })
})

const Kind = Schema.Struct({ kind: TokenRecord.fields.kind, role: TokenRecord.fields.role })

const readKind = (given: { readonly kind: string; readonly role: string }) =>
  Schema.decodeUnknownEffect(Kind)(given).pipe(
    Effect.mapError((error) => new CommandRefused({ reason: `--kind or --role: ${error.message}` }))
  )

/** `token make | list | revoke <id>`: bearer tokens of our own APIs. A token is shown once. */
import { Effect, Layer, Schema } from "effect"
import { TokenRecord, Tokens } from "#http"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { readParameters } from "./parameters.ts"

export const token = (parameters: ReadonlyArray<string>) => runCommand(tokenCommand(parameters))

const tokenCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      workspace: { type: "string", default: "default" },
      kind: { type: "string", default: "member" },
      role: { type: "string", default: "owner" },
      scope: { type: "string", multiple: true, default: ["*"] },
      nats: { type: "string" }
    }
  })
  const [verb = "make", id] = positionals
  const act = Effect.gen(function* () {
    const tokens = yield* Tokens
    if (verb === "list")
      return yield* Effect.forEach(yield* tokens.list, (record) => print(line(record)), { discard: true })
    if (verb === "revoke" && id !== undefined) return yield* print(line(yield* tokens.revoke(id)))
    if (verb !== "make") return yield* new CommandRefused({ reason: "token takes make, list, or revoke <id>" })
    const { kind, role } = yield* readKind({ kind: values.kind, role: values.role })
    const issued = yield* tokens.make({ workspace: values.workspace, kind, role, scopes: values.scope })
    yield* print(issued.token)
  })
  yield* act.pipe(Effect.provide(Tokens.layer.pipe(Layer.provideMerge(busOf(values.nats)))))
})

const Kind = Schema.Struct({ kind: TokenRecord.fields.kind, role: TokenRecord.fields.role })

const readKind = (given: { readonly kind: string; readonly role: string }) =>
  Schema.decodeUnknownEffect(Kind)(given).pipe(
    Effect.mapError((error) => new CommandRefused({ reason: `--kind or --role: ${error.message}` }))
  )

const line = (record: TokenRecord) =>
  [
    record.id,
    record.workspace,
    record.kind,
    record.role,
    record.scopes.join(","),
    record.revokedAt === null ? "valid" : `revoked ${record.revokedAt}`
  ].join("  ")

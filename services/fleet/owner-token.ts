/**
 * The owner's token of a home: one, in the file `owner-token` that its owner alone can read, the same with each start
 * of the fleet. Lost, ended or not an owner's any more, it is made anew, and what was made before it is ended.
 */
import { chmod, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect, Option } from "effect"
import { hasExpired, type TokenRecord, Tokens } from "#http"
import { Secrets } from "#runtime"

const ownersOnly = 0o600

/** Whoever asks holds the home's lock. */
export const ownerToken = Effect.fn("ownerToken")(function* (home: string) {
  const path = join(home, "owner-token")
  const kept = yield* keptIn(path)
  const token = (yield* isOwners(kept)) ? yield* keepPrivate(path, kept) : yield* makeAnew(path)
  ;(yield* Secrets).add(token)
  return token
})

/** Empty where there is none. */
const keptIn = (path: string) =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.map((text) => text.trim()),
    Effect.orElseSucceed(() => "")
  )

const isOwners = Effect.fnUntraced(function* (token: string) {
  if (token === "") return false
  const record = Option.getOrUndefined(yield* (yield* Tokens).find(token))
  return record !== undefined && mayAll(record) && !hasExpired(record, yield* Clock.currentTimeMillis)
})

const mayAll = ({ role, scopes, workspace }: TokenRecord) =>
  workspace === "default" && role === "owner" && scopes.includes("*")

const keepPrivate = (path: string, token: string) =>
  Effect.as(
    Effect.promise(() => chmod(path, ownersOnly)),
    token
  )

/** Written before it is told; a start that dies in between leaves a token that the next one ends. */
const makeAnew = Effect.fnUntraced(function* (path: string) {
  const tokens = yield* Tokens
  const before = (yield* tokens.list).filter(({ purpose, revokedAt }) => purpose === "home" && revokedAt === null)
  yield* Effect.forEach(before, ({ id }) => tokens.revoke(id), { discard: true })
  const { token } = yield* tokens.make({
    workspace: "default",
    kind: "member",
    role: "owner",
    scopes: ["*"],
    purpose: "home"
  })
  yield* Effect.promise(async () => {
    const draft = `${path}.new`
    await writeFile(draft, `${token}\n`, { mode: ownersOnly })
    // An older draft keeps the mode that it had.
    await chmod(draft, ownersOnly)
    await rename(draft, path)
  })
  return token
})

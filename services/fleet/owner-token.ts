/**
 * The owner's token of a home: one, in the file `owner-token` that only its owner can read, the same with each start of
 * the fleet. A token that is lost, expired or no longer an owner's is replaced, and earlier ones are revoked.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect, Option } from "effect"
import { hasExpired, type TokenRecord, Tokens } from "#http"
import { Secrets } from "#runtime"
import { writePrivately } from "./home.ts"

/** The caller holds the home's lock. */
export const ownerToken = Effect.fn("ownerToken")(function* (home: string) {
  const path = join(home, "owner-token")
  const kept = yield* keptIn(path)
  const token = (yield* isOwners(kept)) ? kept : yield* makeAnew
  ;(yield* Secrets).add(token)
  // Written even if unchanged: others may have become able to read it. A start that dies before this leaves a token
  // that the next one revokes.
  yield* writePrivately(path, `${token}\n`)
  return token
})

/** Empty when there is none. */
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

const makeAnew = Effect.gen(function* () {
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
  return token
})

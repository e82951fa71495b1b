/**
 * The passwords of the broker's users: one file each, named after its user, in a folder that only its owner can enter.
 * They are generated at the first start and kept, so that a service with one still gets in after a restart; a removed
 * file is regenerated at the next start.
 *
 * They are 256 random bits, stored in the clear: a slow hash protects passwords that can be guessed, and would cost a
 * processor at every connection. A reader of the server's file can read these too.
 */
import { join } from "node:path"
import { randomBytes } from "node:crypto"
import { chmod, mkdir, readFile } from "node:fs/promises"
import { Effect } from "effect"
import { Secrets } from "#runtime"
import { writePrivately } from "./home.ts"

const passwordBytes = 32

/** Below the server's own folder. */
export const passwordsFolder = (serverFolder: string) => join(serverFolder, "users")

export const readPassword = (folder: string, user: string): Effect.Effect<string | undefined> =>
  Effect.tryPromise(() => readFile(join(folder, user), "utf8")).pipe(
    Effect.map((text) => (text.trim() === "" ? undefined : text.trim())),
    Effect.orElseSucceed(() => undefined)
  )

/** Reads the passwords, and generates missing ones; no log of this process shows one. */
export const keepPasswords = Effect.fn("keepPasswords")(function* (folder: string, users: ReadonlyArray<string>) {
  const { add } = yield* Secrets
  yield* Effect.promise(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
  })
  const kept = yield* Effect.forEach(
    users,
    Effect.fnUntraced(function* (user) {
      const found = yield* readPassword(folder, user)
      // Only letters and digits, so that it can follow any option, and be in any file.
      const password = found ?? randomBytes(passwordBytes).toString("hex")
      add(password)
      // A manually created file can be readable to others.
      if (found === undefined) yield* writePrivately(join(folder, user), `${password}\n`)
      else yield* Effect.promise(() => chmod(join(folder, user), 0o600))
      return [user, password] as const
    }),
    { concurrency: "unbounded" }
  )
  return new Map(kept)
})

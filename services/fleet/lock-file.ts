/**
 * A lock as a file: it appears whole or not at all, and a stale one is removed by one process at a time, and
 * only while it still says what made it stale. Without that, of two that find the same stale lock the slower
 * one would remove the new lock of the faster.
 */
import { randomUUID } from "node:crypto"
import { link, mkdir, readFile, rmdir, stat, unlink, writeFile } from "node:fs/promises"
import { Clock, Effect } from "effect"

// Removing is a handful of file operations; a guard this old was left by a process that died within them.
const guardAgeMsMax = 10_000

/** True when the lock is ours now; false when there is one already. */
export const createLock = Effect.fnUntraced(function* (path: string, text: string) {
  const draft = `${path}.${randomUUID()}`
  yield* Effect.promise(() => writeFile(draft, text))
  const isOurs = yield* succeeds(() => link(draft, path))
  yield* Effect.promise(() => unlink(draft))
  return isOurs
})

/** What the lock says; empty when there is none. */
export const readLock = (path: string): Effect.Effect<string> =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))

/** Removes the lock if it still says `text`. Returns without it when another process is removing one. */
export const removeLock = Effect.fnUntraced(function* (path: string, text: string) {
  const guard = `${path}.removing`
  if (!(yield* succeeds(() => mkdir(guard)))) return yield* dropOldGuard(guard)
  if ((yield* readLock(path)) === text) yield* succeeds(() => unlink(path))
  yield* succeeds(() => rmdir(guard))
}, Effect.uninterruptible)

const dropOldGuard = Effect.fnUntraced(function* (guard: string) {
  const now = yield* Clock.currentTimeMillis
  const madeAtMs = yield* Effect.tryPromise(() => stat(guard)).pipe(
    Effect.map((found) => found.mtimeMs),
    Effect.orElseSucceed(() => now)
  )
  if (now - madeAtMs > guardAgeMsMax) yield* succeeds(() => rmdir(guard))
})

const succeeds = (act: () => Promise<unknown>) =>
  Effect.tryPromise(act).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

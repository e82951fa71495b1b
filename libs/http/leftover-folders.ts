/**
 * Folders of processes that were killed before they could remove them. A folder's name says whose it is: pid
 * and start of its process. One of a process that is gone is removed; when in doubt it stays.
 */
import { lstat, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { geteuid, kill, pid } from "node:process"
import { Effect, Result } from "effect"

const name = /^starling-forms-(\d{1,10})-(\d{1,16})-[A-Za-z0-9]{6}$/u

/** In a container every first process has the same pid, so the start tells them apart. */
export const folderPrefix = () => `starling-forms-${pid}-${startedAtMs()}-`

/** Answers with how many were removed. A file system that refuses is no reason not to start. */
export const sweepLeftovers = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* orElse([], () => readdir(folder))
  const removed = yield* Effect.forEach(entries.filter(isLeftover), (entry) => remove(join(folder, entry)))
  return removed.filter(Boolean).length
})

const isLeftover = (entry: string): boolean => {
  const [, owner, startedAt] = name.exec(entry) ?? []
  if (owner === undefined) return false
  return Number(owner) === pid ? Number(startedAt) !== startedAtMs() : !isAlive(Number(owner))
}

const startedAtMs = () => Math.round(performance.timeOrigin)

const isAlive = (other: number): boolean => {
  const asked = Result.try({ try: () => kill(other, 0), catch: (cause) => cause as NodeJS.ErrnoException })
  // Any other error than "no such process": it is there, but another user's.
  return Result.isSuccess(asked) || asked.failure.code !== "ESRCH"
}

// The folder for temporary files is everybody's: what is not ours is not touched, nor what a link points to.
const remove = Effect.fnUntraced(function* (path: string) {
  const found = yield* orElse(undefined, () => lstat(path))
  if (found === undefined || !found.isDirectory() || found.uid !== geteuid?.()) return false
  return yield* orElse(false, () => rm(path, { recursive: true, force: true }).then(() => true))
})

const orElse = <A, B>(otherwise: B, act: () => Promise<A>) =>
  Effect.orElseSucceed(Effect.tryPromise(act), (): A | B => otherwise)

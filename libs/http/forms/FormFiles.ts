/**
 * The folder for a call's form files. Only this process' user can enter it; below it there is one folder per call,
 * removed with the call's scope however it ends. A killed process leaves its folder behind; the next one to start
 * removes it.
 */
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { geteuid, kill, pid } from "node:process"
import { Context, Effect, Layer, Result, Schema, type Scope } from "effect"

interface FormFilesOptions {
  /** The parent of the process' folder; by default the system's folder for temporary files. */
  readonly folder?: string
}

/** The disk refuses: full, read-only, or owned by another user. */
export class CannotKeepFiles extends Schema.TaggedError<CannotKeepFiles>()("CannotKeepFiles", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.reason}`
  }
}

export class FormFiles extends Context.Service<
  FormFiles,
  {
    /** An empty folder, removed with all its content when the scope is closed. */
    readonly callFolder: Effect.Effect<string, CannotKeepFiles, Scope.Scope>
  }
>()("starling/http/FormFiles") {
  static readonly layer = ({ folder = tmpdir() }: FormFilesOptions = {}) =>
    Layer.effect(
      FormFiles,
      Effect.gen(function* () {
        const swept = yield* sweepLeftovers(folder)
        if (swept > 0) yield* Effect.logInfo("removed what killed processes left").pipe(Effect.annotateLogs({ swept }))
        yield* onDisk(`make ${folder}`, () => mkdir(folder, { recursive: true }))
        const own = yield* folderIn(join(folder, folderPrefix()))
        return FormFiles.of({ callFolder: folderIn(join(own, "call-")) })
      })
    )
}

/** Runs a file system operation. */
export const onDisk = <A>(operation: string, act: () => Promise<A>): Effect.Effect<A, CannotKeepFiles> =>
  Effect.tryPromise({
    try: act,
    catch: (cause) => new CannotKeepFiles({ operation, reason: cause instanceof Error ? cause.message : String(cause) })
  })

// The folder is accessible to its owner only (0700).
const folderIn = (prefix: string) =>
  Effect.acquireRelease(
    onDisk(`make a folder ${prefix}`, () => mkdtemp(prefix)),
    (path) =>
      onDisk(`remove ${path}`, () => rm(path, { recursive: true, force: true })).pipe(
        Effect.catch((error) => Effect.logWarning("files of a form could not be removed", error))
      )
  )

const name = /^starling-forms-(\d{1,10})-(\d{1,16})-[A-Za-z0-9]{6}$/u

/** In containers every first process has the same pid, so the start time distinguishes them. */
const folderPrefix = () => `starling-forms-${pid}-${startedAtMs()}-`

/** Returns how many were removed. A file system that refuses does not stop the start. */
const sweepLeftovers = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* orElse([], () => readdir(folder))
  const removed = yield* Effect.forEach(entries.filter(isLeftover), (entry) => remove(join(folder, entry)))
  return removed.filter(Boolean).length
})

/** A folder's name identifies its process by pid and start. In doubt it stays. */
const isLeftover = (entry: string): boolean => {
  const [, owner, startedAt] = name.exec(entry) ?? []
  if (owner === undefined) return false
  return Number(owner) === pid ? Number(startedAt) !== startedAtMs() : !isAlive(Number(owner))
}

const startedAtMs = () => Math.round(performance.timeOrigin)

const isAlive = (other: number): boolean => {
  const signalled = Result.try({ try: () => kill(other, 0), catch: (cause) => cause as NodeJS.ErrnoException })
  // Any error other than "no such process" means that the process exists but is another user's.
  return Result.isSuccess(signalled) || signalled.failure.code !== "ESRCH"
}

// Everybody shares the folder for temporary files: another user's folder is not touched, nor the target of a link.
const remove = Effect.fnUntraced(function* (path: string) {
  const found = yield* orElse(undefined, () => lstat(path))
  if (found === undefined || !found.isDirectory() || found.uid !== geteuid?.()) return false
  return yield* orElse(false, () => rm(path, { recursive: true, force: true }).then(() => true))
})

const orElse = <A, B>(otherwise: B, act: () => Promise<A>) =>
  Effect.orElseSucceed(Effect.tryPromise(act), (): A | B => otherwise)

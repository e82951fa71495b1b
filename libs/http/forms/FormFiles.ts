/**
 * Where the files of forms stand while their call lasts: a folder that only this process' user may enter,
 * below it one for each call, gone with the call's scope however it ends. A process that was killed leaves
 * its folder behind; the next one to start removes it.
 */
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { geteuid, kill, pid } from "node:process"
import { Context, Effect, Layer, Result, Schema, type Scope } from "effect"

interface FormFilesOptions {
  /** Holds the folder of the process; the system's folder for temporary files unless told. */
  readonly folder?: string
}

/** The disk refuses: full, read-only, or not ours. */
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
    /** An empty folder, removed with all that is in it when the scope is closed. */
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

/** Asks the file system. */
export const onDisk = <A>(operation: string, act: () => Promise<A>): Effect.Effect<A, CannotKeepFiles> =>
  Effect.tryPromise({
    try: act,
    catch: (cause) => new CannotKeepFiles({ operation, reason: cause instanceof Error ? cause.message : String(cause) })
  })

// Such a folder is made for its owner alone (0700).
const folderIn = (prefix: string) =>
  Effect.acquireRelease(
    onDisk(`make a folder ${prefix}`, () => mkdtemp(prefix)),
    (path) =>
      onDisk(`remove ${path}`, () => rm(path, { recursive: true, force: true })).pipe(
        Effect.catch((error) => Effect.logWarning("files of a form could not be removed", error))
      )
  )

const name = /^starling-forms-(\d{1,10})-(\d{1,16})-[A-Za-z0-9]{6}$/u

/** In a container every first process has the same pid, so the start tells them apart. */
const folderPrefix = () => `starling-forms-${pid}-${startedAtMs()}-`

/** Answers with how many were removed. A file system that refuses is no reason not to start. */
const sweepLeftovers = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* orElse([], () => readdir(folder))
  const removed = yield* Effect.forEach(entries.filter(isLeftover), (entry) => remove(join(folder, entry)))
  return removed.filter(Boolean).length
})

/** A folder's name says whose it is: pid and start of its process. In doubt it stays. */
const isLeftover = (entry: string): boolean => {
  const [, owner, startedAt] = name.exec(entry) ?? []
  if (owner === undefined) return false
  return Number(owner) === pid ? Number(startedAt) !== startedAtMs() : !isAlive(Number(owner))
}

const startedAtMs = () => Math.round(performance.timeOrigin)

const isAlive = (other: number): boolean => {
  const signalled = Result.try({ try: () => kill(other, 0), catch: (cause) => cause as NodeJS.ErrnoException })
  // Any other error than "no such process": it is there, but another user's.
  return Result.isSuccess(signalled) || signalled.failure.code !== "ESRCH"
}

// The folder for temporary files is everybody's: what is not ours is not touched, nor what a link points to.
const remove = Effect.fnUntraced(function* (path: string) {
  const found = yield* orElse(undefined, () => lstat(path))
  if (found === undefined || !found.isDirectory() || found.uid !== geteuid?.()) return false
  return yield* orElse(false, () => rm(path, { recursive: true, force: true }).then(() => true))
})

const orElse = <A, B>(otherwise: B, act: () => Promise<A>) =>
  Effect.orElseSucceed(Effect.tryPromise(act), (): A | B => otherwise)

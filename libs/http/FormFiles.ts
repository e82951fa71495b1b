/**
 * Where the files of forms stand while their call lasts: a folder that only this process' user may enter,
 * below it one for each call, gone with the call's scope however it ends. A process that was killed leaves
 * its folder behind; the next one to start removes it.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { folderPrefix, sweepLeftovers } from "./leftover-folders.ts"

export interface FormFilesOptions {
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

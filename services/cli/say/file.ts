/**
 * A file that is there whole or not at all: written under a name of its own beside its place, renamed at the
 * end, removed when the scope closes before that.
 */
import { open, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { wavHeader } from "#audio"
import { faultOfFile } from "../files.ts"
import { CommandRefused } from "../refusals.ts"

/** Where audio goes: a file or a sound card. */
export interface SaySink {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, CommandRefused>
  /** Returns when that moment of the audio is heard; at once where nobody listens. */
  readonly heard: (atMs: number) => Effect.Effect<void>
  /** Returns when all of it is written or heard. */
  readonly finish: Effect.Effect<void, CommandRefused>
}

export interface SayFile extends SaySink {
  readonly path: string
  readonly bytes: () => number
}

/** With `wavRateHz` what is written is PCM, and a header with its true size goes before it. */
export const openFile = Effect.fnUntraced(function* (named: string, wavRateHz: number | undefined) {
  const attempt = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({
      try: work,
      catch: (cause) =>
        new CommandRefused({
          reason: `${named} cannot be written: ${faultOfFile(cause)}`
        })
    })
  // A link stays a link: what it leads to is replaced.
  const path = yield* Effect.promise(() => realpath(named).catch(() => named))
  const found = yield* Effect.promise(() => stat(path).catch(() => undefined))
  if (found !== undefined && !found.isFile()) {
    return yield* new CommandRefused({ reason: `${named} is not a file, -o takes one` })
  }
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  const handle = yield* Effect.acquireRelease(
    attempt(() => open(part, "w")),
    (handle) =>
      Effect.promise(async () => {
        await handle.close().catch(() => {})
        await rm(part, { force: true }).catch(() => {})
      })
  )
  let bytes = 0
  const put = (data: Uint8Array) =>
    attempt(async () => {
      await handle.appendFile(data)
      bytes += data.length
    })
  if (wavRateHz !== undefined) yield* put(wavHeader(wavRateHz, 0))
  const headed = Effect.suspend(() => {
    if (wavRateHz === undefined) return Effect.void
    const header = wavHeader(wavRateHz, bytes - wavHeader(wavRateHz, 0).length)
    return attempt(() => handle.write(header, 0, header.length, 0))
  })
  const file: SayFile = {
    path,
    bytes: () => bytes,
    write: put,
    heard: () => Effect.void,
    finish: headed.pipe(
      Effect.andThen(attempt(() => handle.close())),
      Effect.andThen(Effect.uninterruptible(attempt(() => rename(part, path))))
    )
  }
  return file
})

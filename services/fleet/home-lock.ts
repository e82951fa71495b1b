/**
 * One fleet per home: a lock file held for the life of `up`. A lock whose process is gone, or is another
 * program by now, is taken over.
 */
import { mkdir, readFile, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Schema } from "effect"

/** Another fleet runs in this home. */
export class HomeInUse extends Schema.TaggedError<HomeInUse>()("HomeInUse", {
  home: Schema.String,
  pid: Schema.Int
}) {
  override get message() {
    return `a fleet runs in ${this.home} already (pid ${this.pid}); stop it, or set STARLING_HOME to another folder`
  }
}

export const homeLock = (home: string) =>
  Layer.effectDiscard(
    Effect.acquireRelease(take(home), () => Effect.ignore(Effect.tryPromise(() => unlink(lockPath(home)))))
  )

const lockPath = (home: string) => join(home, "lock")
const create = (home: string) => writeFile(lockPath(home), `${process.pid}\n`, { flag: "wx" })

const take = Effect.fn("homeLock.take")(function* (home: string) {
  yield* Effect.promise(() => mkdir(home, { recursive: true }))
  const taken = yield* Effect.result(Effect.tryPromise(() => create(home)))
  if (taken._tag === "Success") return
  const pid = yield* holder(home)
  if (pid !== undefined) return yield* new HomeInUse({ home, pid })
  yield* Effect.ignore(Effect.tryPromise(() => unlink(lockPath(home))))
  // Two that find the same stale lock: one creates the file, the other is told of it.
  yield* Effect.tryPromise(() => create(home)).pipe(
    Effect.catch(() => Effect.flatMap(holder(home), (other) => new HomeInUse({ home, pid: other ?? 0 })))
  )
})

const holder = Effect.fnUntraced(function* (home: string) {
  const text = yield* Effect.tryPromise(() => readFile(lockPath(home), "utf8")).pipe(Effect.orElseSucceed(() => ""))
  const pid = Number.parseInt(text, 10)
  if (!Number.isInteger(pid) || pid === process.pid) return undefined
  const isAlive = yield* Effect.try(() => process.kill(pid, 0)).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
  if (!isAlive) return undefined
  const commandLine = yield* Effect.tryPromise(() => readFile(`/proc/${pid}/cmdline`, "latin1")).pipe(
    Effect.orElseSucceed(() => "services/fleet/main")
  )
  return commandLine.includes("services/fleet/main") ? pid : undefined
})

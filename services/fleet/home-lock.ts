/**
 * One fleet per home: the file `lock`, held for the life of `up`, names the holding process and that process's start
 * time. A lock whose process is gone is taken over, even if its pid now belongs to another. The file is created
 * atomically. A stale lock is removed by one process at a time, and only while it still has its stale text: otherwise,
 * of two processes that find it, the slower would remove the new lock of the faster.
 */
import { randomUUID } from "node:crypto"
import { link, mkdir, readFile, rmdir, stat, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { execFile } from "node:child_process"
import { Clock, Effect, Layer, Option, Schema } from "effect"

/** Another fleet runs in this home. */
class HomeInUse extends Schema.TaggedError<HomeInUse>()("HomeInUse", {
  home: Schema.String,
  pid: Schema.Int
}) {
  override get message() {
    return `a fleet runs in ${this.home} already (pid ${this.pid}); stop it, or set STARLING_HOME to another folder`
  }
}

const LockFile = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int, startedAt: Schema.String }))
const encodeHolder = Schema.encodeSync(LockFile)
const decodeHolder = Schema.decodeUnknownOption(LockFile)

// A stale lock is gone after one try, or once the guard of a process that died while removing it has aged.
const triesMax = 150
const betweenTries = "100 millis"

export const homeLock = (home: string) =>
  Layer.effectDiscard(Effect.acquireRelease(take(home), (text) => removeLock(lockPath(home), text)))

const lockPath = (home: string) => join(home, "lock")

const take = Effect.fn("homeLock.take")(function* (home: string) {
  yield* Effect.promise(() => mkdir(home, { recursive: true }))
  const path = lockPath(home)
  const self = yield* runningProcess(process.pid)
  const text = encodeHolder({ pid: process.pid, startedAt: self?.startedAt ?? "" })
  for (let tried = 0; tried < triesMax; tried++) {
    if (yield* createLock(path, text)) return text
    const found = yield* readLock(path)
    const holder = yield* livingHolder(found)
    if (holder !== undefined) return yield* new HomeInUse({ home, pid: holder })
    yield* removeLock(path, found)
    if ((yield* readLock(path)) === found) yield* Effect.sleep(betweenTries)
  }
  return yield* new HomeInUse({ home, pid: 0 })
})

/** Whether a fleet runs in this home now. */
export const isFleetIn = (home: string) =>
  Effect.map(Effect.flatMap(readLock(lockPath(home)), livingHolder), (holder) => holder !== undefined)

/** The process that wrote the lock, while it still runs. */
const livingHolder = Effect.fnUntraced(function* (text: string) {
  const holder = Option.getOrUndefined(decodeHolder(text))
  if (holder === undefined) return undefined
  const found = yield* runningProcess(holder.pid)
  return found !== undefined && found.startedAt === holder.startedAt ? holder.pid : undefined
})

// Removing takes a handful of file operations; a guard this old was left by a process that died within them.
const guardAgeMsMax = 10_000

/** True when the lock is ours now; false when one already exists. */
export const createLock = Effect.fnUntraced(function* (path: string, text: string) {
  const draft = `${path}.${randomUUID()}`
  yield* Effect.promise(() => writeFile(draft, text))
  const isOurs = yield* succeeds(() => link(draft, path))
  yield* Effect.promise(() => unlink(draft))
  return isOurs
})

/** The text of the lock; empty if there is none. */
export const readLock = (path: string): Effect.Effect<string> =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))

/** Removes the lock if it still has this `text`. Leaves it in place when another process is removing one. */
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

interface RunningProcess {
  readonly command: string
  /** Only for comparison. */
  readonly startedAt: string
}

/**
 * The facts of a process by its pid: its start time distinguishes it from a later process with the same pid. Read from
 * /proc if available, otherwise from `ps`. A zombie does not count as running.
 */
export const runningProcess = Effect.fnUntraced(function* (pid: number) {
  if (!Number.isInteger(pid) || pid < 1) return undefined
  const bootId = yield* read("/proc/sys/kernel/random/boot_id")
  return bootId === undefined ? yield* fromPs(pid) : yield* fromProc(pid, bootId.trim())
})

const read = (path: string) =>
  Effect.tryPromise(() => readFile(path, "latin1")).pipe(Effect.orElseSucceed((): string | undefined => undefined))

const fromProc = Effect.fnUntraced(function* (pid: number, bootId: string) {
  const stat = yield* read(`/proc/${pid}/stat`)
  const commandLine = yield* read(`/proc/${pid}/cmdline`)
  if (stat === undefined || commandLine === undefined) return undefined
  // The second field is the program's name in brackets, and can itself hold brackets and spaces.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  if (state === "Z" || state === "X") return undefined
  const ticksSinceBoot = fields[18] ?? ""
  return describe(commandLine.split("\0").join(" "), `${bootId} ${ticksSinceBoot}`)
})

/** Exported for its test: on Linux it is never reached. */
export const fromPs = (pid: number): Effect.Effect<RunningProcess | undefined> =>
  Effect.callback((resume) => {
    // lstart is always 24 characters: "Sat Nov 21 06:11:04 2026".
    const options = { env: { LC_ALL: "C", PATH: "/bin:/usr/bin" }, timeout: 5_000 }
    execFile("ps", ["-ww", "-o", "stat=,lstart=,args=", "-p", String(pid)], options, (error, output) => {
      const [line = ""] = output.trimStart().split("\n", 1)
      const [state = ""] = line.split(/\s/u, 1)
      const rest = line.slice(state.length).trimStart()
      const isThere = error === null && state !== "" && !state.startsWith("Z")
      resume(Effect.succeed(isThere ? describe(rest.slice(24), rest.slice(0, 24)) : undefined))
    })
  })

const describe = (command: string, startedAt: string): RunningProcess => ({ command: command.trim(), startedAt })

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spawn } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import {
  createLock,
  fromPs,
  homeLock,
  readLock,
  removeLock,
  runningProcess
} from "../../../services/fleet/home-lock.ts"

const newFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-lock-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)
const take = (home: string) => Layer.build(homeLock(home))
const holderIn = (home: string) =>
  JSON.parse(readFileSync(join(home, "lock"), "utf8")) as { pid: number; startedAt?: string | undefined }

describe("the lock of a home", () => {
  it.live("is held for the life of its scope, by one, and names the holder to the next", () =>
    Effect.gen(function* () {
      const home = yield* newFolder
      const first = yield* Scope.make()
      yield* Scope.provide(take(home), first)
      const refused = yield* Effect.flip(take(home))
      assert.deepInclude(refused, { _tag: "HomeInUse", home, pid: process.pid })
      yield* Scope.close(first, Exit.void)
      yield* take(home)
      assert.strictEqual(holderIn(home).pid, process.pid)
    })
  )

  it.live("is taken over from a dead process, even when another process has its pid", () =>
    Effect.gen(function* () {
      const home = yield* newFolder
      for (const stale of [
        "",
        "not JSON",
        '{"pid":2147483000,"startedAt":"then"}',
        `{"pid":${process.ppid},"startedAt":"then"}`
      ]) {
        writeFileSync(join(home, "lock"), stale)
        yield* Effect.scoped(take(home))
        assert.deepStrictEqual(readdirSync(home), [])
      }
    })
  )

  it.live("goes to exactly one of many that find the same stale lock at once", () =>
    Effect.gen(function* () {
      const home = yield* newFolder
      writeFileSync(join(home, "lock"), '{"pid":2147483000,"startedAt":"then"}')
      const tries = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.exit(take(home))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tries.filter(Exit.isSuccess).length, 1)
      const self = yield* runningProcess(process.pid)
      assert.deepStrictEqual(holderIn(home), { pid: process.pid, startedAt: self?.startedAt })
    })
  )
})

describe("the lock file", () => {
  it.live("is not removed by a process that saw an older text", () =>
    Effect.gen(function* () {
      const path = join(yield* newFolder, "lock")
      assert.isTrue(yield* createLock(path, "new"))
      yield* removeLock(path, "old")
      assert.strictEqual(yield* readLock(path), "new")
    })
  )

  it.live("loses the guard of a process that died while removing it, but not a fresh one", () =>
    Effect.gen(function* () {
      const path = join(yield* newFolder, "lock")
      yield* createLock(path, "old")
      mkdirSync(`${path}.removing`)
      yield* removeLock(path, "old")
      assert.strictEqual(yield* readLock(path), "old")
      utimesSync(`${path}.removing`, 1, 1)
      yield* removeLock(path, "old")
      yield* removeLock(path, "old")
      assert.strictEqual(yield* readLock(path), "")
    })
  )
})

const anotherProcess = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<ReturnType<typeof spawn>>((resolve) => {
        const child = spawn("sleep", ["60"], { stdio: "ignore" })
        child.once("spawn", () => resolve(child))
      })
  ),
  (child) => Effect.sync(() => child.kill("SIGKILL"))
)

describe("a process by its pid", () => {
  for (const [source, look] of [
    ["/proc", runningProcess],
    ["ps", fromPs]
  ] as const) {
    it.effect(`is told from every other by its start and its command line, by ${source}`, () =>
      Effect.gen(function* () {
        const child = yield* anotherProcess
        const found = yield* look(child.pid ?? 0)
        assert.strictEqual(found?.command, "sleep 60")
        assert.notStrictEqual(found?.startedAt, "")
        assert.deepStrictEqual(yield* look(child.pid ?? 0), found)
      })
    )

    it.effect(`is not there once it has ended, by ${source}`, () =>
      Effect.gen(function* () {
        const child = yield* anotherProcess
        const ended = Effect.promise(() => new Promise<void>((resolve) => child.once("exit", () => resolve())))
        child.kill("SIGKILL")
        yield* ended
        assert.isUndefined(yield* look(child.pid ?? 0))
      })
    )
  }

  it.effect("is absent when the number makes no sense", () =>
    Effect.gen(function* () {
      for (const pid of [0, -1, 1.5, Number.NaN]) assert.isUndefined(yield* runningProcess(pid))
    })
  )
})

import { spawn } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fromPs, runningProcess } from "../../../services/fleet/running-process.ts"

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

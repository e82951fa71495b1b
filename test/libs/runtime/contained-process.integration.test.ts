import { existsSync } from "node:fs"
import { constants, getPriority } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type ContainedLimits, runContained } from "#runtime"
import { runningWith } from "../../support/child-processes.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { folder } from "../../support/recordings.ts"

const limits: ContainedLimits = {
  wallMsMax: 10_000,
  cpuSecondsMax: 5,
  memoryMegabytesMax: 256,
  outputBytesMax: 10_000
}

const sh = (script: string, other: Partial<ContainedLimits> = {}) =>
  runContained("/bin/sh", ["-c", script], { ...limits, ...other })

// Ours among those of everybody on the machine.
const sleeper = `sleep 71.${process.pid}s`
const flood = `starling-flood-${process.pid}-`

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe("a contained process", () => {
  it.live("returns its output, its messages and its code", () =>
    Effect.gen(function* () {
      const run = yield* sh("echo out; echo aside >&2; exit 3")
      assert.strictEqual(text(run.output), "out\n")
      assert.deepStrictEqual({ ...run, output: "" }, { output: "", stderr: "aside\n", ending: "ended", exitCode: 3 })
    })
  )

  it.live("gets its parameters unchanged, whatever they contain", () =>
    Effect.gen(function* () {
      const odd = ["-x", "$(id)", "a b", "'; exit 1 #", "*"]
      const run = yield* runContained("/usr/bin/printf", ["%s\\n", ...odd], limits)
      assert.deepStrictEqual(text(run.output).trimEnd().split("\n"), odd)
    })
  )

  it.live("sees nothing of our environment, has no input and has a lower priority", () =>
    Effect.gen(function* () {
      process.env["STARLING_TEST_SECRET"] = "hush"
      const run = yield* sh("env; cat; nice")
      delete process.env["STARLING_TEST_SECRET"]
      assert.notInclude(text(run.output), "hush")
      const niceness = Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW)
      assert.strictEqual(text(run.output).trimEnd().split("\n").at(-1), String(niceness))
    })
  )

  it.live("can write no file, or none above its limit", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const at = join(yield* folder, "file")
        const refused = yield* sh(`head -c 100 /dev/zero > ${at}`)
        assert.notStrictEqual(refused.exitCode, 0)
        assert.strictEqual(text((yield* sh(`wc -c < ${at}`)).output), "0\n")
        const allowed = yield* sh(`head -c 8000 /dev/zero > ${at}; wc -c < ${at}`, { fileKilobytesMax: 8 })
        assert.strictEqual(text(allowed.output), "8000\n")
        assert.isTrue(existsSync(at))
      })
    )
  )

  it.live("is killed when it writes too much, and its earlier output is kept", () =>
    Effect.gen(function* () {
      const run = yield* sh(`yes ${flood}`)
      assert.strictEqual(run.ending, "output")
      assert.strictEqual(run.output.length, limits.outputBytesMax)
      yield* eventually(() => runningWith(flood).length, { is: 0 })
    })
  )

  it.live("is killed with all its children when it takes too long", () =>
    Effect.gen(function* () {
      const run = yield* sh(`${sleeper} & ${sleeper} & wait`, { wallMsMax: 300 })
      assert.strictEqual(run.ending, "wall_time")
      yield* eventually(() => runningWith(sleeper).length, { is: 0 })
    })
  )

  it.live("is killed with all its children when its caller gives up", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(sh(`${sleeper} & ${sleeper} & wait`))
      yield* eventually(() => runningWith(sleeper).length, { is: (length) => length >= 2 })
      yield* Fiber.interrupt(waiting)
      yield* eventually(() => runningWith(sleeper).length, { is: 0 })
    })
  )

  it.live("is killed when it uses up its processor time", () =>
    Effect.gen(function* () {
      // It has a lower priority: on a busy machine a second of its own takes many.
      const run = yield* sh("while :; do :; done", { cpuSecondsMax: 1, wallMsMax: 55_000 })
      assert.strictEqual(run.ending, "cpu_time")
    })
  )

  it.live.skipIf(process.platform !== "linux")("gets no more memory than it may", () =>
    Effect.gen(function* () {
      const run = yield* sh("head -c 400000000 /dev/zero | tail -n 1 | wc -c")
      assert.match(run.stderr, /memory/u)
    })
  )

  it.live("that does not exist is reported missing by its name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(runContained("/nowhere/tool", [], limits))
      assert.strictEqual(error._tag, "ProgramMissing")
      assert.match(error.message, /^cannot start \/nowhere\/tool/u)
    })
  )
})

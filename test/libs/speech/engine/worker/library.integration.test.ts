import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { findLibrary } from "../../../../../libs/speech/engine/worker/library.ts"

const folder = mkdtempSync(join(tmpdir(), "starling-library-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe.skipIf(process.platform !== "linux")("a library that a thread has loaded", () => {
  it("stays loaded for the life of the process: its own threads may still sleep in its code", async () => {
    const copy = join(folder, "libespeak-ng.so")
    copyFileSync(findLibrary("libespeak-ng.so.1"), copy)
    const isMapped = () => readFileSync("/proc/self/maps", "utf8").includes(copy)
    assert.isFalse(isMapped())

    const thread = new Worker(new URL("./loading-thread.ts", import.meta.url), { workerData: copy })
    const ended = once(thread, "exit")
    assert.deepStrictEqual(await once(thread, "message"), ["loaded"])
    assert.isTrue(isMapped())
    await ended
    assert.isTrue(isMapped())
  })
})

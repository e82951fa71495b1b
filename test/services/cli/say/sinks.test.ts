import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { faultOfPlayer, findPlayer } from "../../../../services/cli/say/sinks.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "players-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const install = (program: string, mode = 0o755) => {
  writeFileSync(join(folder, program), "")
  chmodSync(join(folder, program), mode)
}

describe("the player", () => {
  it("is the first installed one", () => {
    const path = ["/nowhere", folder].join(delimiter)
    assert.isUndefined(findPlayer(path))
    assert.isUndefined(findPlayer(undefined))
    install("play")
    assert.strictEqual(findPlayer(path)?.program, "play")
    install("aplay")
    assert.strictEqual(findPlayer(path)?.program, "aplay")
    install("ffplay", 0o644)
    if (process.getuid?.() !== 0) assert.strictEqual(findPlayer(path)?.program, "aplay")
  })

  it("without a sound card is recognised by its message, even when it ends with 0", () => {
    const said = "ALSA lib: no card\nNo more combinations to try, audio open failed\nFailed to open file 'pipe:'\n"
    assert.strictEqual(faultOfPlayer(0, null, said), "No more combinations to try, audio open failed")
    assert.strictEqual(
      faultOfPlayer(1, null, "aplay: main:831: audio open error\n"),
      "aplay: main:831: audio open error"
    )
    assert.strictEqual(faultOfPlayer(3, null, ""), "it ended with 3")
    assert.strictEqual(faultOfPlayer(null, "SIGKILL", ""), "it was ended by SIGKILL")
    assert.isUndefined(faultOfPlayer(0, null, "underrun!!!\n"))
  })
})

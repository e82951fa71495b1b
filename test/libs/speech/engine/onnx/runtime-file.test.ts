import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { onnxRuntimeIn } from "../../../../../libs/speech/engine/onnx/runtime-file.ts"

const packages = (files: ReadonlyArray<string>, check: (folder: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-test-"))
  for (const file of files) {
    mkdirSync(join(folder, file, ".."), { recursive: true })
    writeFileSync(join(folder, file), "")
  }
  try {
    check(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the file of ONNX Runtime", () => {
  it.each([
    [["sherpa-onnx-linux-x64/libonnxruntime.so"], "sherpa-onnx-linux-x64/libonnxruntime.so"],
    [["sherpa-onnx-darwin-arm64/libonnxruntime.dylib"], "sherpa-onnx-darwin-arm64/libonnxruntime.dylib"],
    [["sherpa-onnx-node/package.json", "other/libonnxruntime.so"], undefined]
  ])("among %j is %s", (files, found) => {
    packages(files, (folder) => {
      assert.strictEqual(onnxRuntimeIn(folder), found === undefined ? undefined : join(folder, found))
    })
  })
})

/**
 * Where ONNX Runtime is on this machine: among the packages of sherpa-onnx. Apart from what loads it, because processes
 * ask that have nothing to load it with.
 */
import { existsSync, readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** The library's file; undefined where sherpa-onnx has no package for this machine. */
export const onnxRuntimeFile = (): string | undefined => {
  try {
    const packages = dirname(dirname(createRequire(import.meta.url).resolve("sherpa-onnx-node/package.json")))
    const folders = readdirSync(packages).filter((name) => name.startsWith("sherpa-onnx-"))
    return folders.map((name) => join(packages, name, "libonnxruntime.so")).find((path) => existsSync(path))
  } catch {
    return undefined
  }
}

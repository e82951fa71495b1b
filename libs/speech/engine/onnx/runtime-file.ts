/**
 * Where ONNX Runtime is on this machine: among the packages of sherpa-onnx. Separate from the code that loads it,
 * because processes that cannot load it also ask for it.
 */
import { existsSync, readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** The library's file; undefined if sherpa-onnx has no package for this machine. */
export const onnxRuntimeFile = (): string | undefined => {
  try {
    return onnxRuntimeIn(dirname(dirname(createRequire(import.meta.url).resolve("sherpa-onnx-node/package.json"))))
  } catch {
    return undefined
  }
}

/** On Linux and on macOS. */
const libraries = ["libonnxruntime.so", "libonnxruntime.dylib"]

/** In a folder of packages. */
export const onnxRuntimeIn = (packages: string): string | undefined =>
  readdirSync(packages)
    .filter((name) => name.startsWith("sherpa-onnx-"))
    .flatMap((name) => libraries.map((library) => join(packages, name, library)))
    .find((path) => existsSync(path))

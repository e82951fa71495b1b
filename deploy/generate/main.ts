/** Writes every generated file below deploy/. A test fails when one is stale. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { generatedFiles } from "./files.ts"

const root = join(import.meta.dirname, "../..")
for (const { path, content } of generatedFiles()) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

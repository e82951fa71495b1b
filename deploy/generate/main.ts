/**
 * Writes every generated file below deploy/. A test fails when one is stale. `--lanes N` writes the streams and the
 * broker's users of a fleet whose deliveries go over N lanes.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { deliveryLanesMax } from "#base"
import { generatedFiles } from "./files.ts"

const { lanes: text } = parseArgs({ options: { lanes: { type: "string", default: "1" } } }).values
const lanes = Number(text)
if (!Number.isInteger(lanes) || lanes < 1 || lanes > deliveryLanesMax) {
  throw new Error(`--lanes is a whole number from 1 to ${deliveryLanesMax}`)
}

const root = join(import.meta.dirname, "../..")
for (const { path, content } of generatedFiles(lanes)) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

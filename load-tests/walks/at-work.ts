/**
 * Loaded before a process of the fleet: on SIGUSR2 it writes which functions have run since the last time, and then says
 * so in a file of its own. `WALKS_FOLDER`: where.
 */
import { renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { takeCoverage } from "node:v8"

const folder = process.env["WALKS_FOLDER"] ?? ""
const own = join(folder, `process-${process.pid}`)
let times = 0

const tell = () => {
  writeFileSync(`${own}.next`, String(times))
  renameSync(`${own}.next`, own)
}

process.on("SIGUSR2", () => {
  takeCoverage()
  times += 1
  tell()
})
tell()

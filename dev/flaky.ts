/**
 * Tests that failed at first and passed when their files were run once more. In the folder of reports:
 *   files <folder> <run>   prints the files to run again; exits with 1 when none may be run again
 *   hold <folder> <run>    counts those files by the second run, and keeps the failures as `<run>.flaky`
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Failure } from "./closing-lines.ts"
import { afterSecondRun, filesToRepeat, type RunReport } from "./second-run.ts"

const [order = "", folder = ".", run = ""] = process.argv.slice(2)
const pathOf = (name: string) => join(folder, `${run}.${name}`)
const read = <A>(name: string) => JSON.parse(readFileSync(pathOf(name), "utf8")) as A

if (order === "files") {
  const files = filesToRepeat(read<ReadonlyArray<Failure>>("failures"))
  process.stdout.write(`${files.join(" ")}\n`)
  process.exitCode = files.length === 0 ? 1 : 0
} else {
  writeFileSync(pathOf("json"), JSON.stringify(afterSecondRun(read<RunReport>("json"), read<RunReport>("again.json"))))
  renameSync(pathOf("failures"), pathOf("flaky"))
  for (const name of ["again.json", "again.failures"]) rmSync(pathOf(name), { force: true })
}

/**
 * Tests that failed at first, and the second run of their files. In the folder of reports:
 *   files <folder> <run>   prints the files to run again; exits with 1 when none may be run again
 *   hold <folder> <run>    counts those files by the second run: what failed at first alone is kept as `<run>.flaky`
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Failure } from "./closing-lines.ts"
import { afterSecondRun, failuresAfter, filesToRepeat, type RunReport } from "./second-run.ts"

const [order = "", folder = ".", run = ""] = process.argv.slice(2)
const pathOf = (name: string) => join(folder, `${run}.${name}`)
const read = <A>(name: string) => JSON.parse(readFileSync(pathOf(name), "utf8")) as A
const write = (name: string, value: unknown) => writeFileSync(pathOf(name), JSON.stringify(value))
type Failures = ReadonlyArray<Failure>

if (order === "files") {
  const files = filesToRepeat(read<Failures>("failures"))
  process.stdout.write(`${files.join(" ")}\n`)
  process.exitCode = files.length === 0 ? 1 : 0
} else {
  const { failures, flaky } = failuresAfter(read<Failures>("failures"), read<Failures>("again.failures"))
  write("json", afterSecondRun(read<RunReport>("json"), read<RunReport>("again.json")))
  write("failures", failures)
  write("flaky", flaky)
  for (const name of ["again.json", "again.failures"]) rmSync(pathOf(name))
}

/**
 * Sums the reports of several test runs and prints the closing line, after the slow files and the failures. A run that
 * failed outside of a test counts as one failure. The given folder holds, of each run, vitest's report `<run>.json` and
 * the failures `<run>.failures`, or `<run>.flaky` where they passed in a second run; and of each check or run that
 * ended badly, its output as `<name>.failed`. A third argument is put before the count: its owner.
 */
import { readdirSync, readFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { closingLines, type Failure, failureOutside, flakyLine, slowestLines } from "./closing-lines.ts"

interface Report {
  readonly testResults?: ReadonlyArray<{ readonly name: string; readonly startTime: number; readonly endTime: number }>
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
}

const [failedOutside = "1", folder = ".", whose = ""] = process.argv.slice(2)
const names = readdirSync(folder).toSorted()
const read = (name: string) => readFileSync(join(folder, name), "utf8")
const ending = (suffix: string) => names.filter((name) => name.endsWith(suffix))

const reports = ending(".json").map((name) => JSON.parse(read(name)) as Report)
const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0)

const failuresOf = (name: string) => JSON.parse(read(name)) as ReadonlyArray<Failure>
const failuresIn = (suffix: string) => ending(suffix).flatMap(failuresOf)
const inTests = failuresIn(".failures")
// A run's output is shown only when it named no failure: it did not start, or was ended from outside.
const hasNamed = (run: string) => names.includes(`${run}.failures`) && failuresOf(`${run}.failures`).length > 0
const outside = ending(".failed")
  .map((name) => basename(name, ".failed"))
  .filter((run) => !hasNamed(run))
  .map((run) => failureOutside(run, read(`${run}.failed`)))

const passed = sum((report) => report.numPassedTests)
const failures = sum((report) => report.numFailedTests)
const failed = failures === 0 && failedOutside !== "0" ? 1 : failures
const skipped = sum((report) => report.numPendingTests)
const count = `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
const flaky = failuresIn(".flaky")
const files = reports.flatMap(({ testResults = [] }) =>
  testResults.map(({ name, startTime, endTime }) => ({
    file: relative(process.cwd(), name),
    tookMs: endTime - startTime
  }))
)
const said = [
  ...slowestLines(files),
  ...closingLines(flaky, "== flaky: failed at first, held when run again"),
  ...closingLines([...outside, ...inTests]),
  ...flakyLine(flaky)
]
process.stdout.write([...said, `${whose}${count}`, ""].join("\n"))

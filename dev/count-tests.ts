/**
 * Sums the reports of several test runs and prints the closing line, after naming what failed. A run that failed
 * outside of a test counts as one. The folder that it is given holds, of each ring, vitest's report `<ring>.json` and
 * the failures `<ring>.failures`, or `<ring>.unsteady` where they held in a second run; and of each check or ring that
 * ended badly, what it said as `<name>.failed`.
 */
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { closingLines, type Failure, failureOutside } from "./closing-lines.ts"

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
}

const [failedOutside = "1", folder = "."] = process.argv.slice(2)
const names = readdirSync(folder).toSorted()
const read = (name: string) => readFileSync(join(folder, name), "utf8")
const ending = (suffix: string) => names.filter((name) => name.endsWith(suffix))

const reports = ending(".json").map((name) => JSON.parse(read(name)) as Report)
const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0)

const failuresIn = (suffix: string) =>
  ending(suffix).flatMap((name) => JSON.parse(read(name)) as ReadonlyArray<Failure>)
const inTests = failuresIn(".failures")
const named = new Set(inTests.map(({ ring }) => ring))
// What a ring printed is told only where it named nothing: it did not start, or was ended from outside.
const outside = ending(".failed")
  .map((name) => failureOutside(basename(name, ".failed"), read(name)))
  .filter(({ ring }) => !named.has(ring))

const passed = sum((report) => report.numPassedTests)
const failures = sum((report) => report.numFailedTests)
const failed = failures === 0 && failedOutside !== "0" ? 1 : failures
const skipped = sum((report) => report.numPendingTests)
const count = `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
const unsteady = closingLines(failuresIn(".unsteady"), "== unsteady: failed at first, held when run again")
process.stdout.write([...unsteady, ...closingLines([...outside, ...inTests]), count, ""].join("\n"))

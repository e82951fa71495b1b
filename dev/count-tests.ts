/** Sums the reports of several test runs and prints the closing line. A run that failed outside of a test counts as one. */
import { readFileSync } from "node:fs"

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly success: boolean
}

const [failedOutside = "1", ...paths] = process.argv.slice(2)
const reports = paths.map((path) => JSON.parse(readFileSync(path, "utf8")) as Report)
const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0)

const passed = sum((report) => report.numPassedTests)
const failures = sum((report) => report.numFailedTests)
const failed = failures === 0 && failedOutside !== "0" ? 1 : failures
const skipped = sum((report) => report.numPendingTests)
process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`)

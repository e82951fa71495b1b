/**
 * What a second run of files says beside the first run. Real processes on a machine that stands still for seconds fail
 * tests that are true: a few files are tried again, and named as flaky where they hold then. More of them, or an error
 * that belongs to no file, is no flake.
 */
import type { Failure } from "./closing-lines.ts"

/** Of some two hundred: as many as fail by chance on a bad day. */
export const filesRepeatedMax = 5

/** Files to run again; none where the failure has to stand. */
export const filesToRepeat = (failures: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  const files = new Set(failures.map(({ file }) => file))
  return files.has(null) || files.size > filesRepeatedMax ? [] : [...files].filter((file) => file !== null)
}

/** The part of vitest's report that is counted. `name`: the file's path. */
export interface RunReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

/** The first run, with what the second said of its files in their place. */
export const afterSecondRun = (first: RunReport, second: RunReport) => {
  const repeated = new Set(second.testResults.map(({ name }) => name))
  const testResults = [...first.testResults.filter(({ name }) => !repeated.has(name)), ...second.testResults]
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length
  const [numPassedTests, numFailedTests] = [count("passed"), count("failed")]
  const numPendingTests = statuses.length - numPassedTests - numFailedTests
  return { numPassedTests, numFailedTests, numPendingTests, testResults }
}

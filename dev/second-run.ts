/**
 * The results of a second run of files, merged with the first. Real processes on a machine that stands still for
 * seconds can fail correct tests: a few files are tried again, and each that passes then is named as flaky. More failed
 * files, or an error that belongs to no file, are no flake.
 */
import type { Failure } from "./closing-lines.ts"

/**
 * One in forty of the some 330 files of real processes: as many as fail by chance on a bad day. A fault of what all of them
 * share fails many more.
 */
export const filesRepeatedMax = 8

/** Files to run again; empty when the failure has to stand. */
export const filesToRepeat = (failures: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  const files = new Set(failures.map(({ file }) => file))
  return files.has(null) || files.size > filesRepeatedMax ? [] : [...files].filter((file) => file !== null)
}

/** What failed twice, as it failed the second time, and what failed at first alone. Pure. */
export const failuresAfter = (first: ReadonlyArray<Failure>, second: ReadonlyArray<Failure>) => {
  const failedTwice = new Set(second.map(({ file }) => file))
  return { failures: second, flaky: first.filter(({ file }) => !failedTwice.has(file)) }
}

/** The part of vitest's report that is counted. `name`: the file's path. */
export interface RunReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

/** The first run, with the second run's results for its files. */
export const afterSecondRun = (first: RunReport, second: RunReport) => {
  const repeated = new Set(second.testResults.map(({ name }) => name))
  const testResults = [...first.testResults.filter(({ name }) => !repeated.has(name)), ...second.testResults]
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length
  const [numPassedTests, numFailedTests] = [count("passed"), count("failed")]
  const numPendingTests = statuses.length - numPassedTests - numFailedTests
  return { numPassedTests, numFailedTests, numPendingTests, testResults }
}

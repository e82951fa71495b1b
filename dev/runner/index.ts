/**
 * A reference runner in small files: ask-for-work.ts asks, perform.ts does one phase, phases/ holds each of them,
 * Reporter.ts reports the result.
 */
export { type RunnerFlags, runnerOptions } from "./options.ts"
export { runRunner } from "./runner.ts"

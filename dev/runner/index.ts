/**
 * What a runner has to do, shown in small files: ask-for-work.ts asks, perform.ts does one phase, phases/ holds each of
 * them, Reporter.ts says what became of it.
 */
export { type RunnerGiven, runnerOptions } from "./options.ts"
export { runRunner } from "./runner.ts"

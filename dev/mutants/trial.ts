/** Tries mutants one by one: the tests that may notice each, until one of them does. */
import type { ImportGraph } from "./import-graph.ts"
import { type Mutant, mutatedText } from "./mutant.ts"
import { type ChosenTest, testsOf } from "./test-choice.ts"
import type { Attempt, TestRunner } from "./test-run.ts"

export type Verdict = "killed" | "timed out" | "survived"

export interface Tried {
  readonly mutant: Mutant
  readonly verdict: Verdict
  /** The test that noticed it. */
  readonly by?: string
  /** How many tried it. */
  readonly tests: number
}

export interface Trial {
  readonly graph: ImportGraph
  readonly runner: TestRunner
  readonly textOf: (file: string) => string
  readonly projects: ReadonlyArray<string>
  readonly testsMax: (project: string) => number
  readonly onTried: (tried: Tried) => void
  /** A test that fails without any mutant judges none. */
  readonly onUnfit: (test: string, reason: string) => void
}

/** A mutant may be this much slower than its original, on a machine with much else to do, and is still judged. */
const limitMs = (tookMs: number) => 5 * tookMs + 10_000
const firstLimitMs = 300_000

export const tryMutants = async (mutants: ReadonlyArray<Mutant>, trial: Trial): Promise<ReadonlyArray<Tried>> => {
  const known: Known = { tookMs: new Map(), fit: new Map(), runs: { latest: 0 } }
  const tried: Array<Tried> = []
  for (const mutant of mutants) {
    const one = await tryMutant(mutant, trial, known)
    tried.push(one)
    trial.onTried(one)
  }
  return tried
}

interface Known {
  readonly tookMs: Map<string, number>
  /** By file and test: whether the test passes while the file is loaded anew, but not changed. */
  readonly fit: Map<string, boolean>
  readonly runs: { latest: number }
}

const tryMutant = async (mutant: Mutant, trial: Trial, known: Known): Promise<Tried> => {
  const { graph, runner, textOf, projects, testsMax } = trial
  const { file, edit } = mutant
  const { tookMs, runs } = known
  const anew = [file, ...graph.loadersOf(file)]
  const changed = { run: (runs.latest += 1), file, text: mutatedText(textOf(file), edit), anew }
  const unchanged = { run: (runs.latest += 1), file, text: textOf(file), anew }
  let tests = 0
  for (const test of testsOf(graph, file, { projects, testsMax, tookMs })) {
    const { path, project } = test
    const isKnown = tookMs.has(path) || (await isFit(test, unchanged, trial, known))
    if (!isKnown || known.fit.get(`${file} ${path}`) === false) continue
    tests += 1
    const outcome = await runner.run({ ...changed, test: path, project, limitMs: limitMs(tookMs.get(path) ?? 0) })
    if (outcome.end === "passed" || !(await isFit(test, unchanged, trial, known))) continue
    return { mutant, verdict: outcome.end === "failed" ? "killed" : "timed out", by: path, tests }
  }
  return { mutant, verdict: "survived", tests }
}

/** Asked before a test is run for the first time, for the time that it takes, and before its failure counts. */
const isFit = async (
  { path, project }: ChosenTest,
  unchanged: Omit<Attempt, "test" | "project" | "limitMs">,
  { runner, onUnfit }: Trial,
  { tookMs, fit }: Known
) => {
  const pair = `${unchanged.file} ${path}`
  const known = fit.get(pair)
  if (known !== undefined) return known
  const outcome = await runner.run({ ...unchanged, test: path, project, limitMs: firstLimitMs })
  fit.set(pair, outcome.end === "passed")
  if (outcome.end === "passed") tookMs.set(path, outcome.tookMs)
  else onUnfit(path, outcome.end === "failed" ? outcome.by : outcome.end)
  return outcome.end === "passed"
}

/** Runs test files with a mutant in vitest, in processes that stay. */
import { existsSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { loadConfigFromFile } from "vite"
import { createVitest, type TestModule, type Vitest } from "vitest/node"
import { KeptWorkers } from "./kept-worker.ts"

/** What a process of tests loads in a run, by URL. */
export interface LoadedMutant {
  readonly run: number
  readonly file: string
  readonly text: string
  /** The changed file, all that import it, and the tests. */
  readonly anew: ReadonlyArray<string>
}

declare module "vitest" {
  export interface ProvidedContext {
    mutant: LoadedMutant
  }
}

export interface Attempt {
  /** The same for all tests of a mutant, for which its modules are loaded once. */
  readonly run: number
  readonly file: string
  readonly text: string
  readonly anew: ReadonlyArray<string>
  readonly test: string
  readonly project: string
  readonly limitMs: number
}

export type Outcome =
  | { readonly end: "passed"; readonly tookMs: number }
  | { readonly end: "failed"; readonly tookMs: number; readonly by: string }
  | { readonly end: "timed out"; readonly tookMs: number }

export interface TestRunner {
  readonly run: (attempt: Attempt) => Promise<Outcome>
  readonly close: () => Promise<void>
}

/** Brokers of tests are quicker here, and what a killed one leaves goes with the run. */
const memory = "/dev/shm"

/** A new process first loads what all tests need. */
const startMs = 60_000

const urlOf = (path: string) => pathToFileURL(resolve(path)).href

/** A folder for the brokers of a run's tests. */
export const storesFolder = () => mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "starling-mutants-"))

export const testRunner = async (projects: ReadonlyArray<string>, stores: string): Promise<TestRunner> => {
  const kept = new KeptWorkers()
  const vitest = await createVitest(
    "test",
    { config: false, watch: false, reporters: [{}], passWithNoTests: true, cache: false },
    { test: { projects: await projectsOf(projects, kept, stores) } }
  )
  await vitest.standalone()
  return {
    run: (attempt) => outcomeOf(vitest, kept, attempt),
    close: async () => {
      await vitest.close()
      await kept.end()
    }
  }
}

interface NamedProject {
  readonly test: { readonly name: string; readonly env?: Readonly<Record<string, string>> }
}

/** The projects of vitest.config.ts, in processes that stay. */
const projectsOf = async (names: ReadonlyArray<string>, kept: KeptWorkers, stores: string) => {
  const loaded = await loadConfigFromFile(
    { command: "serve", mode: "test" },
    "vitest.config.ts",
    ".",
    "warn",
    undefined,
    "native"
  )
  const { test } = (loaded?.config ?? {}) as { readonly test?: { readonly projects: ReadonlyArray<NamedProject> } }
  const projects = test?.projects.filter(({ test }) => names.includes(test.name)) ?? []
  const isKnown = names.every((name) => projects.some(({ test }) => test.name === name))
  if (!isKnown) throw new Error(`vitest.config.ts has not all of the projects ${names.join(", ")}`)
  return projects.map(({ test }) => ({
    test: {
      ...test,
      pool: kept,
      env: { ...test.env, STARLING_TEST_STORES: stores },
      setupFiles: "dev/mutants/load-mutant.ts",
      maxWorkers: 1,
      fileParallelism: false,
      bail: 1
    }
  }))
}

const outcomeOf = async (
  vitest: Vitest,
  kept: KeptWorkers,
  { project: name, test, file, text, anew, limitMs, run }: Attempt
): Promise<Outcome> => {
  const project = vitest.projects.find((each) => each.name === name)
  if (project === undefined) throw new Error(`vitest has no project ${name}`)
  project.provide("mutant", { run, file: urlOf(file), text, anew: [...anew, test].map(urlOf) })
  const begun = performance.now()
  let isLate = false
  const limit = setTimeout(
    () => {
      isLate = true
      void kept.end()
    },
    limitMs + (kept.has(name) ? 0 : startMs)
  )
  // The tests that failed in earlier runs would count for `bail`.
  const { state } = vitest
  for (const kept of [state.filesMap, state.idMap]) kept.clear()
  const specification = project.createSpecification(resolve(test))
  const { unhandledErrors } = await vitest.runTestSpecifications([specification])
  clearTimeout(limit)
  const tookMs = performance.now() - begun
  if (isLate) return { end: "timed out", tookMs }
  const module = specification.testModule
  if (unhandledErrors.length === 0 && module !== undefined && ["passed", "skipped"].includes(module.state()))
    return { end: "passed", tookMs }
  return { end: "failed", tookMs, by: reasonOf(module, unhandledErrors) }
}

const reasonOf = (module: TestModule | undefined, unhandled: ReadonlyArray<unknown>) => {
  for (const test of module?.children.allTests("failed") ?? [])
    return `${test.fullName}: ${test.result().errors?.[0]?.message ?? ""}`
  return String(module?.errors()[0]?.message ?? unhandled[0] ?? "it has no test")
}

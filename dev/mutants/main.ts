/**
 * `./starling mutants [ROOM]`: what the tests would not notice. Changes the code of a room in small ways, one at a time and
 * in memory alone, and runs the tests that import it; what none of them notices is printed.
 */
import { globSync, readFileSync, rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { changedLines, firstKnown } from "./changed-lines.ts"
import { compiles } from "./compiler.ts"
import { isEquivalent } from "./equivalent.ts"
import { type Entrances, importGraph } from "./import-graph.ts"
import { type Mutant, mutatedText } from "./mutant.ts"
import { mutantsOf } from "./operators.ts"
import { kill, processesBelow } from "./processes.ts"
import { lastLine, lineOf, scoreOf, survivorLine } from "./report.ts"
import { shuffled } from "./sample.ts"
import { unaskedOf } from "./test-choice.ts"
import { storesFolder, testRunner } from "./test-run.ts"
import { tryMutants } from "./trial.ts"

const given = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        since: { type: "string" },
        sample: { type: "string", default: "60" },
        seed: { type: "string" },
        list: { type: "boolean", default: false },
        projects: { type: "string", default: "unit" },
        tests: { type: "string" },
        "at-least": { type: "string" }
      }
    })
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error))
  }
}

const usage = (message: string): never => {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

const { values, positionals } = given()
const whole = (name: string, text: string) => {
  const value = Number(text)
  return Number.isInteger(value) && value >= 0 ? value : usage(`--${name} takes a whole number, not ${text}`)
}

/** Tests of real processes take seconds each. */
const testsByDefault = (project: string) => (project === "unit" ? 40 : 4)

const print = (line: string) => process.stdout.write(`${line}\n`)

const texts = new Map<string, string>()
const textOf = (file: string) => {
  const text = texts.get(file) ?? readFileSync(file, "utf8")
  texts.set(file, text)
  return text
}

/** A room's mutants, those of the lines that changed, or of both. */
const candidates = (room: string | undefined): ReadonlyArray<Mutant> => {
  const since = values.since ?? (room === undefined ? firstKnown(["origin/main", "main", "HEAD"]) : undefined)
  const changed = since === undefined ? undefined : changedLines(since)
  const files = room === undefined ? [...(changed?.keys() ?? [])] : filesOf(room)
  return files
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && changed?.has(file) !== false)
    .toSorted()
    .flatMap((file) => mutantsOf(file, textOf(file)))
    .filter(({ file, line }) => changed?.get(file)?.has(line) !== false)
}

const filesOf = (room: string) => {
  const files = room.endsWith(".ts") ? globSync(room) : globSync(`${room}/**/*.ts`)
  return files.length === 0 ? usage(`${room} is no room: name a folder or a file with code, as libs/bus`) : files
}

/** As many of them as asked for that compile, in the order of the tree. */
const sampled = async (all: ReadonlyArray<Mutant>, size: number, seed: number) => {
  // About a third does not compile.
  const drawn = shuffled(all, seed).slice(0, 2 * size + 20)
  const originals = [...new Set(drawn.map(({ file }) => file))].map((file) => ({ file, text: textOf(file) }))
  const fit = await compiles(
    drawn.map(({ file, edit }) => ({ file, text: mutatedText(textOf(file), edit) })),
    originals
  )
  const chosen = new Set(drawn.filter((_, at) => fit[at]).slice(0, size))
  return all.filter((mutant) => chosen.has(mutant))
}

const main = async () => {
  const begun = performance.now()
  const room = positionals[0]?.replace(/\/$/u, "")
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : whole("seed", values.seed)
  const all = candidates(room)
  const equivalent = all.filter(isEquivalent).length
  const mutants = await sampled(
    all.filter((mutant) => !isEquivalent(mutant)),
    whole("sample", values.sample),
    seed
  )
  if (values.list) return mutants.map(lineOf).forEach(print)
  const { imports } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly imports: Entrances }
  const sources = globSync(["libs", "services", "dev", "deploy", "load-tests", "test"].map((top) => `${top}/**/*.ts`))
  const graph = importGraph(new Map(sources.map((file) => [file, textOf(file)])), imports)
  const projects = values.projects.split(",")
  const runner = await testRunner(projects, stores)
  const tried = await tryMutants(mutants, {
    graph,
    runner,
    textOf,
    projects,
    testsMax: (project) => (values.tests === undefined ? testsByDefault(project) : whole("tests", values.tests)),
    onTried: (tried) => {
      if (tried.verdict === "survived") print(survivorLine(tried, unaskedOf(graph, tried.mutant.file, projects)))
    },
    onUnfit: (test, reason) => print(`${test} is left out, it fails without a mutant: ${reason}`)
  })
  await runner.close()
  const seconds = (performance.now() - begun) / 1_000
  print(lastLine({ room: room ?? "changed lines", tried, equivalent, seconds, seed }))
  // Vitest would end with 1 for every test that fails.
  process.exitCode = values["at-least"] !== undefined && scoreOf(tried) < Number(values["at-least"]) ? 1 : 0
}

const stores = storesFolder()
process.once("exit", () => rmSync(stores, { recursive: true, force: true }))
// What was started has its own processes and folders, and goes with this one.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    for (const pid of processesBelow(process.pid)) kill(pid)
    process.exit(130)
  })

await main()

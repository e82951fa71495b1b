/**
 * `./starling load <scenario> [part...]`: measures on this machine, everything on loopback, in processes that it starts
 * and ends itself. Exit code 1 when a target was missed, something was lost or a part did not come to its end, 69 when
 * something that it needs is not here, 2 when it was asked wrongly. What was measured until then is written all the same.
 */
import { cpus, loadavg } from "node:os"
import { resolve } from "node:path"
import { catalogue, usage } from "./catalogue.ts"
import { type Failure, failureOf, fleetVariables } from "./failure.ts"
import { type Findings, figuresOf, joined, takeFailures, takeMade } from "./figures.ts"
import { until } from "./loops.ts"
import { type LoadOrder, readOptions } from "./options.ts"
import { paceMs, processorTime, stolenPercent } from "./pace.ts"
import { processesOf } from "./process-use.ts"
import { table, writeReport } from "./report.ts"

const misused = (reason: string) => {
  process.stderr.write(`starling: ${reason}\n\n${usage()}`)
  process.exit(2)
}

const ordered = (): LoadOrder => {
  try {
    return readOptions(process.argv.slice(2), `${import.meta.dirname}/results`)
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
}

const { names, options, given } = ordered()
const [name, ...parts] = names
if (name === undefined) misused("which scenario?")
const scenario = Object.hasOwn(catalogue, name ?? "") ? catalogue[name ?? ""] : undefined
if (name === undefined || scenario === undefined) throw misused(`there is no scenario ${name}`)
const unknown = parts.filter((part) => !Object.hasOwn(scenario.parts, part))
if (unknown.length > 0) misused(`${name} has no part ${unknown.join(", ")}`)
const untaken = given.filter((option) => !(scenario.takes as ReadonlyArray<string>).includes(option))
if (untaken.length > 0) misused(`${name} does not take ${untaken.map((option) => `--${option}`).join(", ")}`)

// Elsewhere nobody can see them, and they end with what started them.
const childrenPids = () =>
  process.platform === "linux" ? processesOf(process.pid).flatMap(({ pid }) => (pid === process.pid ? [] : [pid])) : []

const endChildren = (signal: NodeJS.Signals = "SIGTERM") => {
  for (const pid of childrenPids()) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

// Who is stopped leaves nothing running: a scenario's own ending would not be reached any more.
const leave = () => {
  endChildren()
  process.exit(130)
}
process.on("SIGINT", leave)
process.on("SIGTERM", leave)

// Whose shell has the ports of another fleet measures one with ports of its own.
const foreign = fleetVariables(Object.keys(process.env)).filter(
  (variable) => scenario.keeps?.includes(variable) !== true
)
for (const variable of foreign) delete process.env[variable]
if (foreign.length > 0) process.stderr.write(`left out of the environment: ${foreign.join(", ")}\n`)

const findings: Array<Findings> = []
const failures: Array<Failure> = []
const missingCode = 69

const busy = () => `load average ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`

const failed = (part: string, error: unknown) => {
  const failure = failureOf(part, error, busy())
  failures.push(failure)
  process.stderr.write(`starling: ${failure.sentence}\n`)
}

const report = (): number => {
  const all = joined(findings)
  const folder = resolve(process.env["STARLING_CALLED_FROM"] ?? "", options.out)
  const { json, html, machine } = writeReport({ folder, scenario: name, seed: options.seed, findings: all, failures })
  process.stdout.write(`${machine}\n\n${table(all.figures)}\n\n${json}\n${html}\n`)
  if (failures.some(({ isMissing }) => isMissing)) return missingCode
  return failures.length > 0 || all.figures.some((figure) => figure.met === false) ? 1 : 0
}

let current: string = name
// Outside of every part nobody knows what still runs: what was measured is written, and nothing more is.
const giveUp = (error: unknown) => {
  failed(current, error)
  findings.push({ figures: takeMade(), series: [] })
  const code = report()
  endChildren()
  process.exit(code)
}
process.on("uncaughtException", giveUp)
process.on("unhandledRejection", giveUp)

// A dispatcher takes half a minute to drain; what is still there then has to go.
const endMsMax = 40_000

/** What a part has left behind would be in the way of the next one, and of the end. */
const untilAlone = async () => {
  endChildren()
  const isAlone = () => childrenPids().length === 0
  await until(isAlone, endMsMax, "the processes of a part had ended").catch(() => endChildren("SIGKILL"))
}

const measured = async (part: string): Promise<Findings | undefined> => {
  takeMade()
  try {
    return await scenario.parts[part]?.(options)
  } catch (error) {
    failed(part, error)
    await untilAlone()
    return { figures: takeMade(), series: [] }
  } finally {
    for (const error of takeFailures()) failed(part, error)
  }
}

for (const part of parts.length === 0 ? Object.keys(scenario.parts) : parts) {
  current = part
  process.stderr.write(`${part} ...\n`)
  // A figure without the company it was measured in says little.
  const figure = figuresOf(part)
  const company = [
    figure("load average before it", loadavg()[0] ?? Number.NaN, ""),
    figure("a loop of ten million additions before it", paceMs(), "ms")
  ]
  const before = processorTime()
  const found = await measured(part)
  if (found === undefined) continue
  company.push(
    figure("processor time that was stolen meanwhile", stolenPercent(before, processorTime()), "%"),
    figure("a loop of ten million additions after it", paceMs(), "ms")
  )
  findings.push({ ...found, figures: [...found.figures, ...company] })
  process.stderr.write(`${table(found.figures)}\n`)
  if (failures.some(({ isMissing }) => isMissing)) break
}
const code = report()
await untilAlone()
process.exit(code)

/**
 * `./starling load <scenario> [part...]`: measures on this machine, everything on loopback, in processes that it starts
 * and ends itself. Exit code 1 when a target was missed or something was lost, 2 when it was asked wrongly.
 */
import { loadavg } from "node:os"
import { resolve } from "node:path"
import { catalogue, usage } from "./catalogue.ts"
import { type Findings, figuresOf, joined } from "./figures.ts"
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

// Who is stopped leaves nothing running: a scenario's own ending would not be reached any more.
const leave = () => {
  for (const { pid } of processesOf(process.pid)) if (pid !== process.pid) process.kill(pid, "SIGTERM")
  process.exit(130)
}
process.on("SIGINT", leave)
process.on("SIGTERM", leave)

const findings: Array<Findings> = []
for (const part of parts.length === 0 ? Object.keys(scenario.parts) : parts) {
  process.stderr.write(`${part} ...\n`)
  // A figure without the company it was measured in says little.
  const figure = figuresOf(part)
  const company = [
    figure("load average before it", loadavg()[0] ?? Number.NaN, ""),
    figure("a loop of ten million additions before it", paceMs(), "ms")
  ]
  const before = processorTime()
  const found = await scenario.parts[part]?.(options)
  if (found === undefined) continue
  company.push(
    figure("processor time that was stolen meanwhile", stolenPercent(before, processorTime()), "%"),
    figure("a loop of ten million additions after it", paceMs(), "ms")
  )
  findings.push({ ...found, figures: [...found.figures, ...company] })
  process.stderr.write(`${table(found.figures)}\n`)
}
const all = joined(findings)
const folder = resolve(process.env["STARLING_CALLED_FROM"] ?? "", options.out)
const { json, html, machine } = writeReport({ folder, scenario: name, seed: options.seed, findings: all })
process.stdout.write(`${machine}\n\n${table(all.figures)}\n\n${json}\n${html}\n`)
process.exitCode = all.figures.some((figure) => figure.met === false) ? 1 : 0

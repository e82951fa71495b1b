/**
 * `./starling load webhooks [scenario...] [--minutes N]`: measures on this machine, everything on loopback, in
 * processes that it starts and ends itself. Exit code 1 when a target was missed.
 */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { table, writeReport } from "./report.ts"
import { manyEndpoints } from "./webhooks/endpoints.ts"
import { drain, hanging, kills, retries } from "./webhooks/faults.ts"
import type { Findings } from "./webhooks/figures.ts"
import { isolation, latency } from "./webhooks/latency.ts"
import { soak } from "./webhooks/soak.ts"
import { throughput } from "./webhooks/throughput.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string", default: "5" } }
})

const always: Record<string, () => Promise<Findings>> = {
  throughput,
  latency,
  isolation,
  retries,
  hanging,
  kills,
  drain,
  endpoints: manyEndpoints
}
const scenarios: Record<string, () => Promise<Findings>> = { ...always, soak: () => soak(Number(values.minutes)) }

const [room = "", ...wanted] = positionals
const unknown = wanted.filter((name) => !Object.hasOwn(scenarios, name))
if (room !== "webhooks" || unknown.length > 0) {
  process.stderr.write(`starling: load webhooks [${Object.keys(scenarios).join("|")}]\n`)
  process.exit(2)
}

const findings: Array<Findings> = []
for (const name of wanted.length === 0 ? Object.keys(always) : wanted) {
  process.stderr.write(`${name} ...\n`)
  const found = await scenarios[name]?.()
  if (found === undefined) continue
  findings.push(found)
  process.stderr.write(`${table(found.figures)}\n`)
}
const all: Findings = {
  figures: findings.flatMap((found) => found.figures),
  series: findings.flatMap((found) => found.series)
}
const { json, html, machine } = writeReport(join(import.meta.dirname, "results"), all)
process.stdout.write(`${machine}\n\n${table(all.figures)}\n\n${json}\n${html}\n`)
process.exitCode = all.figures.some((figure) => figure.met === false) ? 1 : 0

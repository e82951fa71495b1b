/**
 * `./starling load <room> [scenario...] [--minutes N]`: measures on this machine, everything on loopback, in
 * processes that it starts and ends itself. Exit code 1 when a target was missed.
 */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Findings, joined } from "./figures.ts"
import { table, writeReport } from "./report.ts"
import { budget } from "./pipeline/budget.ts"
import { commands } from "./pipeline/commands.ts"
import { evmSettle, evmVerify } from "./payments/evm.ts"
import { paid } from "./payments/paid.ts"
import { replay } from "./payments/replay.ts"
import { consent } from "./speech/consent.ts"
import { creates } from "./speech/creates.ts"
import { handmade } from "./speech/handmade.ts"
import { kills as speechKills } from "./speech/kills.ts"
import { marks } from "./speech/marks.ts"
import { leavers } from "./speech/leavers.ts"
import { memory } from "./speech/memory.ts"
import { streams } from "./speech/streams.ts"
import { ttfb } from "./speech/ttfb.ts"
import { manyEndpoints } from "./webhooks/endpoints.ts"
import { drain, hanging, kills, retries } from "./webhooks/faults.ts"
import { isolation, latency } from "./webhooks/latency.ts"
import { soak } from "./webhooks/soak.ts"
import { throughput } from "./webhooks/throughput.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string", default: "5" } }
})

type Scenarios = Readonly<Record<string, () => Promise<Findings>>>

interface Room {
  /** What a plain run runs. */
  readonly always: Scenarios
  /** Only when asked for. */
  readonly asked: Scenarios
}

const rooms: Readonly<Record<string, Room>> = {
  payments: { always: { paid, replay, "evm-verify": evmVerify, "evm-settle": evmSettle }, asked: {} },
  pipeline: { always: { commands, budget }, asked: {} },
  webhooks: {
    always: { throughput, latency, isolation, retries, hanging, kills, drain, endpoints: manyEndpoints },
    asked: { soak: () => soak(Number(values.minutes)) }
  },
  speech: {
    always: { ttfb, streams, handmade, marks, memory, leavers, creates, kills: speechKills, consent },
    asked: {}
  }
}

const [roomName = "", ...wanted] = positionals
const room = Object.hasOwn(rooms, roomName) ? rooms[roomName] : undefined
const scenarios: Scenarios = { ...room?.always, ...room?.asked }
if (room === undefined || wanted.some((name) => !Object.hasOwn(scenarios, name))) {
  const usage = Object.entries(rooms).map(
    ([name, { always, asked }]) => `starling: load ${name} [${Object.keys({ ...always, ...asked }).join("|")}]\n`
  )
  process.stderr.write(usage.join(""))
  process.exit(2)
}

const findings: Array<Findings> = []
for (const name of wanted.length === 0 ? Object.keys(room.always) : wanted) {
  process.stderr.write(`${name} ...\n`)
  const found = await scenarios[name]?.()
  if (found === undefined) continue
  findings.push(found)
  process.stderr.write(`${table(found.figures)}\n`)
}
const all = joined(findings)
const { json, html, machine } = writeReport(join(import.meta.dirname, "results"), roomName, all)
process.stdout.write(`${machine}\n\n${table(all.figures)}\n\n${json}\n${html}\n`)
process.exitCode = all.figures.some((figure) => figure.met === false) ? 1 : 0

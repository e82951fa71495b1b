/** The fleet beside the server that one would write by hand: time to the first byte, and requests per second. */
import { fork, spawnSync } from "node:child_process"
import { join } from "node:path"
import { figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { speak, type Target } from "./client.ts"
import { withFleet } from "./fleet.ts"
import { closedLoop, openLoop } from "../loops.ts"
import { mixed } from "./texts.ts"

// What the one by hand can keep up with: two starts of a process cost some 80 ms of a processor.
const perSecond = 5
const seconds = 20
const warmUpSeconds = 3
const atOnce = 8
const requests = 200
const espeakPath = process.env["LOAD_ESPEAK_NG"] ?? "espeak-ng"

/** Whether the command of espeak-ng is here: the library alone has none. */
export const hasEspeakCommand = () => spawnSync(espeakPath, ["--version"]).status === 0

/** A server as one would write it by hand, and the process in which it runs. */
export const withHandmade = async <A>(use: (target: Target, pid: number) => Promise<A>): Promise<A> => {
  const child = fork(join(import.meta.dirname, "handmade-server.ts"), [espeakPath], { execArgv: [] })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  try {
    const { port } = await new Promise<{ port: number }>((resolve) =>
      child.once("message", (message) => resolve(message as { port: number }))
    )
    return await use({ speech: `http://127.0.0.1:${port}`, token: "none" }, child.pid ?? 0)
  } finally {
    child.kill()
    await ended
  }
}

const measured = async (name: string, target: Target): Promise<Findings> => {
  const findings: Array<Findings> = []
  for (const format of ["pcm_24000", "mp3_24000_64"]) {
    const ask = (index: number) => speak(target, { input: mixed(index), output_format: format })
    await openLoop(perSecond, warmUpSeconds, ask)
    const first = (await openLoop(perSecond, seconds, ask)).map(({ firstByteMs }) => firstByteMs)
    const started = performance.now()
    const answers = await closedLoop(requests, atOnce, ask)
    const rate = (requests / (performance.now() - started)) * 1_000
    const figure = figuresOf(`${name}, ${format}`)
    const lost = answers.filter(({ status, isWhole, body }) => status !== 200 || !isWhole || body.length === 0).length
    findings.push({
      figures: [
        figure(`first byte at ${perSecond}/s, p50`, percentile(first, 0.5), "ms"),
        figure(`first byte at ${perSecond}/s, p99`, percentile(first, 0.99), "ms"),
        figure(`requests, ${atOnce} at once`, rate, "/s"),
        figure("not answered whole", lost, "streams")
      ],
      series: []
    })
  }
  return joined(findings)
}

export const handmade = async (): Promise<Findings> => {
  const ours = await withFleet((fleet) => measured("the fleet", fleet))
  if (hasEspeakCommand()) {
    return joined([ours, await withHandmade((target) => measured("by hand", target))])
  }
  process.stderr.write("  by hand: left out, for there is no espeak-ng to run (the library alone has no command)\n")
  return joined([ours, { figures: [figuresOf("by hand")("left out: no espeak-ng to run", 0, "")], series: [] }])
}

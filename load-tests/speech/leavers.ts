/** Ten thousand clients that come and leave: with nothing said, with the request sent, or with the first byte. */
import { connect } from "node:net"
import { atMost, exactly, figuresOf, type Findings } from "../figures.ts"
import { open, speak } from "./client.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { closedLoop, pause } from "../loops.ts"
import { processesOf, rssMbOf } from "../process-use.ts"

const count = 10_000
const atOnce = 20
// Most ask for PCM: a cancelled encoder is killed and started anew, which measures the starting of processes.
const mp3Every = 100
// What is long enough that nobody has heard all of it when he leaves.
const text = "A client that leaves hears no more than this. ".repeat(20)
const settledWithinMs = 30_000

const comesAndLeaves = async (fleet: Fleet, index: number): Promise<number> => {
  if (index % 3 === 0) return leavesInSilence(fleet)
  const format = index % mp3Every === 1 ? "mp3_24000_64" : "pcm_24000"
  const opening = open(fleet, "/v1/audio/stream", { input: text, output_format: format })
  const response = await opening.catch(() => undefined)
  if (response === undefined) return 0
  // Without an error handler a socket that we break ourselves would end the process.
  response.on("error", () => {})
  if (index % 3 === 2) await new Promise((resolve) => response.once("readable", resolve).once("close", resolve))
  response.destroy()
  return response.statusCode ?? 0
}

const leavesInSilence = (fleet: Fleet) =>
  new Promise<number>((resolve) => {
    const { hostname, port } = new URL(fleet.speech)
    const socket = connect(Number(port), hostname, () => socket.destroy())
    socket.on("error", () => {})
    socket.on("close", () => resolve(0))
  })

const activeStreams = async (fleet: Fleet) => {
  const metrics = await (await fetch(`${fleet.metrics}/metrics`)).text()
  return Number(/^speech_streams_active\{[^}]*\} (\d+)/mu.exec(metrics)?.[1] ?? Number.NaN)
}

const settled = async (fleet: Fleet) => {
  const deadline = performance.now() + settledWithinMs
  let active = await activeStreams(fleet)
  while (active !== 0 && performance.now() < deadline) {
    await pause(100)
    active = await activeStreams(fleet)
  }
  return active
}

export const leavers = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    await speak(fleet, { input: "Warm up.", output_format: "pcm_24000" })
    const started = performance.now()
    const statuses = await closedLoop(count, atOnce, (index) => comesAndLeaves(fleet, index))
    const tookSeconds = (performance.now() - started) / 1_000
    const broken = statuses.filter((status) => status >= 500).length
    const active = await settled(fleet)
    const after = await speak(fleet, { input: "And is anybody there?", output_format: "pcm_24000" })
    const memoryMb = rssMbOf(processesOf(fleet.pid), "up")
    const isWhole = after.status === 200 && after.isWhole ? 0 : 1
    const figure = figuresOf(`${count} clients that come and leave`)
    return {
      figures: [
        figure(`clients, ${atOnce} at once`, count / tookSeconds, "/s"),
        figure("answered with 5xx", broken, "", exactly(0, broken)),
        figure("streams left behind", active, "", exactly(0, active)),
        figure("the next one was not answered whole", isWhole, "", exactly(0, isWhole)),
        figure("memory of up afterwards", memoryMb, "MB", atMost(500, memoryMb, "MB"))
      ],
      series: []
    }
  })

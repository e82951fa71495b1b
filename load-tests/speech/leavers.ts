/**
 * Ten thousand clients that come and leave: with nothing said, with the request sent, or with the first byte; and as many
 * live connections, which close, or vanish without a word.
 */
import { connect } from "node:net"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { livePath, liveProtocol } from "#speech/api"
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

type Gauge = "speech_streams_active" | "speech_live_connections"

const gaugeOf = async (fleet: Fleet, name: Gauge) => {
  const metrics = await (await fetch(`${fleet.metrics}/metrics`)).text()
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, "mu").exec(metrics)?.[1] ?? Number.NaN)
}

const settled = async (fleet: Fleet, name: Gauge) => {
  const deadline = performance.now() + settledWithinMs
  let active = await gaugeOf(fleet, name)
  while (active !== 0 && performance.now() < deadline) {
    await pause(100)
    active = await gaugeOf(fleet, name)
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
    const active = await settled(fleet, "speech_streams_active")
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

const say = [
  { type: "context.start", context_id: "c", voice_id: "henry", output_format: "pcm_24000" },
  { type: "text", context_id: "c", text: "A listener who leaves hears no more than this. And there is more of it." }
]

/** Whether the connection was taken, and spoke where it was waited for. */
const connectsAndLeaves = ({ speech, token }: Fleet, index: number) =>
  new Promise<boolean>((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`${speech.replace(/^http/u, "ws")}${livePath}`, [liveProtocol], { headers })
    let isTaken = false
    const leaves = (how: "close" | "terminate") => {
      isTaken = true
      socket[how]()
    }
    socket.on("error", () => undefined)
    socket.once("close", () => resolve(isTaken))
    socket.once("open", () => {
      if (index % 3 === 0) return leaves("close")
      for (const message of say) socket.send(JSON.stringify(message))
      if (index % 3 === 1) leaves("terminate")
    })
    socket.on("message", (data: Buffer) => {
      if (index % 3 === 2 && data.includes('"audio"')) leaves(index % 2 === 0 ? "close" : "terminate")
    })
  })

// What the collector and the allocator have not given back yet comes and goes.
const grownMbMax = 40

export const liveLeavers = (): Promise<Findings> =>
  withFleet(
    async (fleet) => {
      const come = async (from: number) => {
        const taken = await closedLoop(count / 2, atOnce, (index) => connectsAndLeaves(fleet, from + index))
        return taken.filter((isTaken) => !isTaken).length
      }
      const rssMb = () => rssMbOf(processesOf(fleet.pid), "up")
      const started = performance.now()
      const refusedFirst = await come(0)
      const halfwayMb = rssMb()
      const refused = refusedFirst + (await come(count / 2))
      const tookSeconds = (performance.now() - started) / 1_000
      const grownMb = rssMb() - halfwayMb
      const connections = await settled(fleet, "speech_live_connections")
      const active = await settled(fleet, "speech_streams_active")
      const figure = figuresOf(`${count} live connections that come and leave`)
      return {
        figures: [
          figure(`connections, ${atOnce} at once`, count / tookSeconds, "/s"),
          figure("not taken, or not spoken to", refused, "", exactly(0, refused)),
          figure("connections left behind", connections, "", exactly(0, connections)),
          figure("streams left behind", active, "", exactly(0, active)),
          figure("memory of up after the first half", halfwayMb, "MB"),
          figure("memory of up, grown in the second half", grownMb, "MB", atMost(grownMbMax, grownMb, "MB"))
        ],
        series: []
      }
    },
    { SPEECH_API_LIVE_CONNECTIONS_PER_TOKEN: "100" }
  )

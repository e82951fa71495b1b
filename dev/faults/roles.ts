/** Faults of the fleet's processes: they hang, lose the broker, or are started wrongly. */
import { connect } from "node:net"
import { type Fault, repeatedly } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"
import { limited } from "./planted.ts"

/** Stops a process as a machine that hangs does. */
const hangs = (condition: string, what: string, command: string): Fault => ({
  condition,
  what,
  begin: async ({ pidOf }) => {
    const pid = pidOf(command)
    process.kill(pid, "SIGSTOP")
    return async () => void process.kill(pid, "SIGCONT")
  }
})

export const synthesizerHangs = hangs("StarlingPodDown", "a synthesizer hangs", "role speech-synthesizer")

export const chainHangs = hangs("PaymentChainUnreachable", "the only node of a chain hangs", "dev-chain-solana")

export const brokerIsAway: Fault = {
  condition: "StarlingBusDisconnected",
  effects: ["StarlingProcessUnready"],
  what: "a process loses its way to the broker",
  begin: async ({ pods: { far } }) => {
    far.line.cut()
    return async () => far.line.mend()
  }
}

export const brokerComesAndGoes: Fault = {
  condition: "StarlingBusFlapping",
  what: "a process loses the broker every few seconds",
  begin: async ({ pods: { near } }) =>
    repeatedly(5_000, () => {
      near.line.cut()
      near.line.mend()
    })
}

export const clockIsWrong: Fault = {
  condition: "StarlingClockSkewed",
  what: "a process's clock is ten seconds ahead",
  begin: async ({ pods: { near } }) => {
    await near.restart({ aheadSeconds: 10 })
    return () => near.restart()
  }
}

export const streamDiffers: Fault = {
  condition: "StarlingTopologyDiffers",
  what: "a process starts where a stream is not as declared",
  begin: async (fleet) => {
    const mend = await limited(fleet, "EVENTS", () => ({ max_age: 20 * 86_400 * 1_000_000_000 }))
    await fleet.pods.far.restart()
    return mend
  }
}

export const eventIsBroken: Fault = {
  condition: "StarlingMessagesRejected",
  what: "a service publishes an event that breaks its schema",
  begin: async ({ manager, publish }) => {
    await publish({ event: "sandbox.leak_detected" })
    return () => manager.streams.purge("REJECTED")
  }
}

export const connectionsAreMalformed: Fault = {
  condition: "StarlingConnectionsCut",
  what: "somebody opens ten malformed connections a second",
  begin: async ({ running }) => {
    const { hostname, port } = new URL(running.ready.gateway)
    return repeatedly(100, () => {
      const socket = connect(Number(port), hostname, () => socket.end("no such method\r\n\r\n"))
      socket.on("error", () => undefined)
    })
  }
}

export const tracesAreNotTaken: Fault = {
  condition: "StarlingTracesDropped",
  what: "the collector of traces refuses what it is sent",
  begin: async ({ outside: { collector }, publish }: FaultFleet) => {
    collector.answer(503)
    const end = repeatedly(1_000, publish)
    return async () => {
      await end()
      collector.answer("well")
    }
  }
}

/** Faults of the fleet's processes and of what they all stand on. */
import { type Fault, repeatedly } from "./fault.ts"

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

export const eventIsBroken: Fault = {
  condition: "StarlingMessagesRejected",
  what: "a service publishes an event that breaks its schema",
  begin: async ({ publish }) => repeatedly(1_000, () => publish({ event: "sandbox.leak_detected" }))
}

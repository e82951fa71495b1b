/** Faults of engines, and of the way to them. */
import { type Fault, repeatedly } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"

let texts = 0

const speak = async ({ running }: FaultFleet) => {
  const input = `Sentence number ${(texts += 1)}.`
  const answer = await fetch(`${running.ready.speech}/v1/audio/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${running.ready.token}`, "content-type": "application/json" },
    body: JSON.stringify({ input, voice_id: "henry" })
  })
  await answer.arrayBuffer()
}

export const engineFails: Fault = {
  condition: "SpeechEngineSilent",
  what: "an engine's licence ends",
  begin: async ({ outside: { engine } }) => {
    engine("fails")
    return async () => engine("hums")
  }
}

export const chunksAreNotTaken: Fault = {
  condition: "SpeechSilent",
  what: "the synthesizers' consumers of SPEECH are paused",
  begin: async (fleet) => {
    const { manager } = fleet
    const names: Array<string> = []
    for await (const { name } of manager.consumers.list("SPEECH")) names.push(name)
    const until = new Date(Date.now() + 3_600_000)
    for (const name of names) await manager.consumers.pause("SPEECH", name, until)
    const end = repeatedly(3_000, () => speak(fleet))
    return async () => {
      await end()
      for (const name of names) await manager.consumers.resume("SPEECH", name)
    }
  }
}

export const callersAreMany: Fault = {
  condition: "SpeechSequencersBusy",
  also: ["SpeechEncodersFailing"],
  effects: ["SpeechRefusals"],
  what: "ten callers come at once, where three sessions and two encoders have room",
  wavers: "which of the two limits refuses is a matter of milliseconds",
  begin: async (fleet) => repeatedly(3_000, () => Promise.all(Array.from({ length: 10 }, () => speak(fleet))))
}

/** The synthesizer's process gets a third of a processor. */
export const engineIsSlow: Fault = {
  condition: "StarlingEventLoopLate",
  effects: ["SpeechFirstByteSlow"],
  what: "a synthesizer stands still for a second, again and again",
  begin: async (fleet) => {
    const pid = fleet.pidOf("role speech-synthesizer")
    const stop = repeatedly(1_500, () => {
      process.kill(pid, "SIGSTOP")
      setTimeout(() => process.kill(pid, "SIGCONT"), 1_000)
    })
    const end = repeatedly(700, () => speak(fleet))
    return async () => {
      await stop()
      process.kill(pid, "SIGCONT")
      await end()
    }
  }
}

/** Listeners who each hear one text after the other, at their own pace, and check whether they have heard it whole. */
import { randomUUID } from "node:crypto"
import type { Callable, LoadedFleet } from "./fleet.ts"
import type { ProcessorShare } from "../support/processor-share.ts"
import { faultsOfMarks, listener, unmarked } from "../support/speech.ts"
import { openStream } from "../support/speech-clients.ts"
import { type Ledger, newLedger } from "./ledger.ts"
import { insist, pauseMs, stopAll, work } from "./worker.ts"

export interface SpeechLoad {
  /** From the wish for bytes to their arrival; an interrupted stream is requested again. */
  readonly waits: Ledger
  /** Streams with audio, and their results. */
  readonly streams: StreamCounts
  readonly stop: () => Promise<void>
}

export interface StreamCounts {
  started: number
  whole: number
  /** Why the connection broke, or what break the last event reported: the listener knows, and asks again. */
  readonly cut: Array<string>
  /** Ended as if all were well, but incomplete: the faults. */
  readonly faults: Array<string>
}

const listeners = 2
/** Another one each time, because finished speech is kept. */
let texts = 0
const nextInput = () =>
  `Text ${++texts}. ${"The harbour wakes before the town does, and nobody minds the gulls. ".repeat(14)}`
// Some 4 MB, more than fits between the fleet and a client that does not read, sixteen times as fast as it is heard: a
// scenario takes as long as the last stream of its load.
const bytesPerSecondMax = 1_000_000
const firstAudioWithinMs = 10_000
// A container that is killed takes its network with it: what waited for a slow reader is never sent, nor the end of the
// connection. A fleet that lives and has its processors lets no listener wait as long.
const silentWithinMs = 4_000

/** The faults of a stream as it was heard; empty when it is whole. */
const faultsOf = (heard: ReturnType<ReturnType<typeof listener>["heard"]>, text: string): ReadonlyArray<string> => [
  ...faultsOfMarks([text], heard.marks, heard.durationMs),
  ...(unmarked(text, heard.marks) === "" ? [] : [`not marked: ${unmarked(text, heard.marks)}`]),
  ...(Math.abs(heard.audio.length / 48 - heard.durationMs) < 0.1
    ? []
    : [`${heard.audio.length / 48} ms of audio, announced as ${heard.durationMs}`])
]

/** A listener's wait for bytes, from the wish to the arrival; it continues over a cut connection. */
interface Waiting {
  readonly want: () => void
  readonly got: () => void
}

interface Hearing extends Waiting {
  /** What a thread of the fleet gets of a processor. */
  readonly processorShare: number
  readonly bytesPerSecond: number
}

const unhurried: Hearing = { want: () => undefined, got: () => undefined, processorShare: 1, bytesPerSecond: 500_000 }

/** Hears one text. `cut` when the connection broke on the way; `started` when there was audio before. */
export const hearOnce = async (fleet: Callable, text: string, hearing: Hearing = unhurried) => {
  const { want, got, processorShare, bytesPerSecond } = hearing
  const place = { url: fleet.of("speech-api").url, token: fleet.token }
  const order = { input: text, voice_id: "henry", output_format: "pcm_24000" }
  want()
  const { response } = await openStream(place, "/v1/audio/stream/with-timestamps", order, firstAudioWithinMs)
  if (response.statusCode !== 200) {
    response.destroy()
    throw new Error(`answered with ${response.statusCode}`)
  }
  const silentMs = silentWithinMs / processorShare
  response.setTimeout(silentMs, () => response.destroy(new Error(`the connection fell silent for ${silentMs} ms`)))
  const events = listener()
  const decoder = new TextDecoder()
  const beganMs = performance.now()
  let bytes = 0
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length
      events.take(decoder.decode(part, { stream: true }))
      if (events.bytes() > 0) got()
      const aheadMs = (bytes / bytesPerSecond) * 1_000 - (performance.now() - beganMs)
      if (aheadMs > 0) await pauseMs(aheadMs)
      if (!events.isDone()) want()
    }
  } catch (error) {
    return { started: events.bytes() > 0, cut: true, faults: [String(error)] }
  }
  try {
    return { started: true, cut: false, faults: faultsOf(events.heard(), text) }
  } catch (error) {
    // A stream that reports its break is no better and no worse than a broken connection.
    const isTold = String(error).includes('"type":"speech.error"')
    return { started: events.bytes() > 0, cut: isTold, faults: [String(error)] }
  }
}

const waitingIn = (waits: Ledger): Waiting => {
  let current: string | undefined
  return {
    want: () => {
      current ??= randomUUID()
      waits.begin(current)
    },
    got: () => {
      if (current !== undefined) waits.end(current)
      current = undefined
    }
  }
}

export const startSpeechLoad = (fleet: Callable & Pick<LoadedFleet, "patience">, share: ProcessorShare): SpeechLoad => {
  const bytesPerSecond = Math.max(bytesPerSecondMax / fleet.patience, unhurried.bytesPerSecond)
  const waits = newLedger()
  const streams: StreamCounts = { started: 0, whole: 0, cut: [], faults: [] }
  const hear = async (waiting: Waiting) => {
    const { started, cut, faults } = await hearOnce(fleet, nextInput(), {
      ...waiting,
      processorShare: share.now(),
      bytesPerSecond
    })
    if (!started) return undefined
    streams.started += 1
    const told = `${new Date().toISOString()} ${faults.slice(0, 3).join("; ")}`
    if (cut) streams.cut.push(told)
    else if (faults.length === 0) streams.whole += 1
    else streams.faults.push(told)
    return cut ? undefined : true
  }
  const workers = Array.from({ length: listeners }, () => {
    const waiting = waitingIn(waits)
    return work(200, async () => void (await insist("a whole stream", () => hear(waiting))))
  })
  return { waits, streams, stop: async () => void (await stopAll(workers)) }
}

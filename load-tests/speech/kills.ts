/**
 * kill -9 of the synthesizer's process while fifty clients listen. `up` starts it again; the chunks it was
 * at work on are made anew. The pace is above real time and the text long, for what already waits in the
 * buffers between the fleet and its clients needs no synthesizer.
 */
import { figuresOf, exactly, type Findings, percentile } from "../figures.ts"
import { open, readEvents } from "./client.ts"
import { decoded, decodedHz } from "./decode.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { pause } from "../loops.ts"
import { faultsOfMarks } from "./mark-faults.ts"
import { onsetsOf, startErrors } from "./onsets.ts"
import { play } from "./player.ts"
import { processesOf } from "../process-use.ts"
import { prose } from "./texts.ts"

const clients = 50
const spreadMs = 15_000
const killAfterMs = 15_000
const speed = 2
const format = "pcm_24000"
// 16 bits in base64.
const bytesPerSecond = 24_000 * 2 * (4 / 3)
// Some 136 s of audio; 50 s of it may wait in the kernel's buffers and in the fleet's.
const text = prose(2_400)
const lateMaxMs = 2_000
// 60 ms is what a mark may be off; what is joined wrongly is off by whole words.
const marksOffMaxMs = 60

const listen = async (fleet: Fleet, startMs: number) => {
  await pause(startMs - performance.now())
  const askedMs = performance.now()
  const response = await open(fleet, "/v1/audio/stream/with-timestamps", { input: text, output_format: format })
  const firstByteMs = performance.now() - askedMs
  const parts: Array<Buffer> = []
  const played = await play(response, { bytesPerSecond, speed, onBytes: (bytes) => parts.push(bytes) })
  return { askedMs, firstByteMs, played, speech: readEvents(Buffer.concat(parts).toString("utf8")) }
}

type Listened = Awaited<ReturnType<typeof listen>>

/** What is wrong with what a client heard. */
const faultsOf = async ({ played, speech }: Listened): Promise<ReadonlyArray<string>> => {
  if (!played.isWhole || speech.durationMs === undefined) return ["it broke off"]
  const pcm = await decoded(format, speech.audio)
  const differsMs = Math.abs((pcm.length * 1_000) / decodedHz - speech.durationMs)
  const starts = speech.marks.map(({ start_time }) => start_time)
  const offMs = percentile(startErrors(onsetsOf(pcm), starts), 0.9)
  return [
    ...faultsOfMarks(text, speech),
    ...(differsMs < 5 ? [] : [`it lasts ${differsMs} ms more or less than announced`]),
    ...(offMs <= marksOffMaxMs ? [] : [`its marks are ${offMs} ms off the audio`])
  ]
}

export const kills = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const started = performance.now()
    const all = Promise.all(
      Array.from({ length: clients }, (_, index) => listen(fleet, started + ((index + 0.5) * spreadMs) / clients))
    )
    // The last of them begin just then: those have nothing in store. A few more follow while it is gone.
    await pause(killAfterMs - 300)
    const victim = processesOf(fleet.pid).find(({ kind }) => kind === "synthesizer")
    if (victim === undefined) throw new Error("there is no synthesizer to kill")
    process.kill(victim.pid, "SIGKILL")
    const killedMs = performance.now()
    const within = await Promise.all([0, 100, 200, 400, 800].map((afterMs) => listen(fleet, killedMs + afterMs)))
    const listened = [...(await all), ...within]
    const again = processesOf(fleet.pid).some(({ kind, pid }) => kind === "synthesizer" && pid !== victim.pid)
    const faulty: Array<ReadonlyArray<string>> = []
    for (const one of listened) faulty.push(await faultsOf(one))
    for (const faults of faulty.filter((each) => each.length > 0).slice(0, 5)) {
      process.stderr.write(`  ${faults.slice(0, 3).join("; ")}\n`)
    }
    const broken = faulty.filter((faults) => faults.length > 0).length
    // A player that stood already when the process was killed stood for another reason.
    const stood = (is: (fromMs: number) => boolean) =>
      listened.map(({ played }) =>
        played.stands.filter(({ fromMs }) => is(fromMs)).reduce((sum, { tookMs }) => sum + tookMs, 0)
      )
    const [before, after] = [stood((fromMs) => fromMs < killedMs), stood((fromMs) => fromMs >= killedMs)]
    const latest = Math.max(...after)
    const first = Math.max(...within.map(({ firstByteMs }) => firstByteMs))
    const figure = figuresOf(`kill -9 of the synthesizer, ${clients} streams at ${speed} times real time`)
    const inTime = (value: number) => ({ target: `<= ${lateMaxMs} ms`, met: value <= lateMaxMs })
    return {
      figures: [
        figure("streams that are not whole and in order", broken, "", exactly(0, broken)),
        figure("stood still before it, at most", Math.max(...before), "ms"),
        figure("streams that stood still after it", after.filter((ms) => ms > 0).length, ""),
        figure("stood still after it, at most", latest, "ms", inTime(latest)),
        figure("first byte of those that began while it was gone, at most", first, "ms", inTime(first)),
        figure("started again", again ? 1 : 0, "", exactly(1, again ? 1 : 0))
      ],
      series: []
    }
  })

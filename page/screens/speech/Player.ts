/**
 * Plays PCM while it comes. Each part is scheduled by the audio clock right behind the one before, so the clock says
 * which sample is heard; after a gap in the stream the sound goes on later, and the clock knows of it.
 */
import { playedMs, type Stretch } from "./marks.ts"
import { addPeaks } from "./pcm.ts"

/** The fleet's own rate: a context of the same rate joins parts without a click. */
export const sampleRateHz = 24_000
/** A part arrives a little before it is heard, so that a late one makes no gap. */
const leadSeconds = 0.06
/** One bar of the waveform for each 10 ms. */
export const peakSamples = sampleRateHz / 100

export class Player {
  readonly parts: Array<Int16Array<ArrayBuffer>> = []
  readonly peaks: Array<number> = []
  samples = 0
  private readonly context = new AudioContext({ sampleRate: sampleRateHz, latencyHint: "interactive" })
  private readonly stretches: Array<Stretch> = []
  private readonly playing = new Set<AudioBufferSourceNode>()
  private nextSeconds = 0

  constructor() {
    // A page that was not clicked yet may have to ask twice.
    void this.context.resume()
  }

  push(part: Int16Array<ArrayBuffer>) {
    if (part.length === 0 || this.context.state === "closed") return
    const buffer = this.context.createBuffer(1, part.length, sampleRateHz)
    buffer.copyToChannel(
      Float32Array.from(part, (value) => value / 32_768),
      0
    )
    const source = this.context.createBufferSource()
    source.buffer = buffer
    source.connect(this.context.destination)
    this.schedule(source, part.length)
    this.parts.push(part)
    addPeaks(this.peaks, part, { before: this.samples, stretch: peakSamples })
    this.samples += part.length
  }

  private schedule(source: AudioBufferSourceNode, samples: number) {
    const soonest = this.context.currentTime + leadSeconds
    const isGap = this.nextSeconds < this.context.currentTime || this.stretches.length === 0
    const atSeconds = isGap ? soonest : this.nextSeconds
    const last = this.stretches.at(-1)
    if (isGap || last === undefined) this.stretches.push({ atSeconds, fromSample: this.samples, samples })
    else this.stretches[this.stretches.length - 1] = { ...last, samples: last.samples + samples }
    this.nextSeconds = atSeconds + samples / sampleRateHz
    this.playing.add(source)
    source.addEventListener("ended", () => this.playing.delete(source))
    source.start(atSeconds)
  }

  /** Where in the sound the ear is; undefined before it begins. */
  playedMs(): number | undefined {
    const { currentTime, outputLatency, baseLatency } = this.context
    return playedMs(this.stretches, currentTime - (outputLatency || baseLatency || 0), sampleRateHz)
  }

  /** How long what came so far is. */
  get lengthMs() {
    return (this.samples * 1_000) / sampleRateHz
  }

  stop() {
    for (const source of this.playing) source.stop()
    this.playing.clear()
    if (this.context.state !== "closed") void this.context.close()
  }
}

/** Ears for tests: an answer's sound, measured in samples. */
import { spawn } from "node:child_process"
import { decodeAll } from "./ffmpeg.ts"

/** The demuxer of a format's bytes, and its rate. */
const decoderOf = (format: string): { readonly parameters: ReadonlyArray<string>; readonly rateHz: number } => {
  const [codec = "", rate = "24000"] = format.split("_")
  const rateHz = Number(rate)
  if (codec === "pcm") return { parameters: ["-f", "s16le", "-ar", rate, "-ac", "1"], rateHz }
  if (codec === "ulaw") return { parameters: ["-f", "mulaw", "-ar", rate, "-ac", "1"], rateHz }
  if (codec === "alaw") return { parameters: ["-f", "alaw", "-ar", rate, "-ac", "1"], rateHz }
  return { parameters: ["-f", codec], rateHz: codec === "ogg" ? 48_000 : rateHz }
}

export interface Pcm {
  readonly samples: Int16Array
  readonly rateHz: number
}

export interface Encoded {
  readonly bytes: Buffer
  readonly format: string
  /** By default the format's own, so that no resampler touches the length. */
  readonly rateHz?: number
}

const decodedByOne = async (all: ReadonlyArray<Encoded>): Promise<ReadonlyArray<Pcm>> => {
  const sounds = all.map(({ bytes, format, rateHz = decoderOf(format).rateHz }) => ({
    bytes,
    rateHz,
    input: decoderOf(format).parameters,
    output: ["-ac", "1", "-ar", String(rateHz)]
  }))
  try {
    const samples = await decodeAll(sounds)
    return sounds.map(({ rateHz }, nth) => ({ samples: samples[nth] ?? new Int16Array(0), rateHz }))
  } catch (failure) {
    const detail = failure instanceof Error ? failure.message : String(failure)
    throw new Error(`${all.map(({ format }) => format).join(", ")}: ${detail}`, { cause: failure })
  }
}

/** Where one does not decode, each is tried alone: then the failure names its format. */
export const decodedTogether = (all: ReadonlyArray<Encoded>): Promise<ReadonlyArray<Pcm>> =>
  decodedByOne(all).catch(async (failure: unknown) => {
    for (const each of all) await decodedByOne([each])
    throw failure
  })

/** At the rate the format itself has. */
export const decoded = async (bytes: Buffer, format: string): Promise<Pcm> => {
  const [pcm] = await decodedByOne([{ bytes, format }])
  return pcm ?? Promise.reject(new Error(`${format} has no sound`))
}

/** Integrated loudness in LUFS, as ffmpeg measures it (EBU R 128). */
export const loudnessOf = (bytes: Buffer, format: string) =>
  new Promise<number>((resolve, reject) => {
    const { parameters } = decoderOf(format)
    const measure = ["-filter_complex", "ebur128", "-f", "null", "-"]
    const child = spawn("ffmpeg", ["-hide_banner", "-nostats", ...parameters, "-i", "pipe:0", ...measure])
    let stderr = ""
    child.stderr.on("data", (part: Buffer) => (stderr += part.toString()))
    child.stdin.on("error", () => undefined)
    child.stdin.end(bytes)
    child.once("close", () => {
      const lufs = /I:\s+(-[\d.]+) LUFS/u.exec(stderr.slice(stderr.lastIndexOf("Summary:")))?.[1]
      return lufs === undefined ? reject(new Error(`no loudness: ${stderr.slice(-500)}`)) : resolve(Number(lufs))
    })
  })

export const samplesOf = (bytes: Buffer): Int16Array =>
  new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length - (bytes.length % 2)))

export const lengthMs = ({ samples, rateHz }: Pcm): number => (samples.length * 1_000) / rateHz

export const rms = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.sqrt(sum / Math.max(1, samples.length))
}

// Above the noise that the coarsest codec leaves in a silence; speech is in the thousands.
const audible = 300

/** Where sound begins after at least `silenceMs` of silence, in milliseconds. */
export const onsetsOf = ({ samples, rateHz }: Pcm, silenceMs: number): ReadonlyArray<number> => {
  const onsets: Array<number> = []
  let soundEnd = -Infinity
  for (let index = 0; index < samples.length; index++) {
    if (Math.abs(samples[index] ?? 0) <= audible) continue
    if (((index - soundEnd) * 1_000) / rateHz >= silenceMs) onsets.push((index * 1_000) / rateHz)
    soundEnd = index
  }
  return onsets
}

/** The largest difference of two neighbouring samples between two times. */
export const largestStep = ({ samples, rateHz }: Pcm, fromMs: number, toMs: number): number => {
  const from = Math.max(1, Math.round((fromMs * rateHz) / 1_000))
  const to = Math.min(samples.length, Math.round((toMs * rateHz) / 1_000))
  let largest = 0
  for (let index = from; index < to; index++) {
    largest = Math.max(largest, Math.abs((samples[index] ?? 0) - (samples[index - 1] ?? 0)))
  }
  return largest
}

const pitchLowHz = 60
const pitchHighHz = 400

export interface Pitch {
  readonly hz: number
  /** How much higher the high tones are than the low ones: 1 is a monotone. */
  readonly spread: number
}

/** The median pitch of voiced stretches, by autocorrelation over 40 ms. */
export const pitchOf = ({ samples, rateHz }: Pcm): Pitch => {
  const length = Math.round(rateHz * 0.04)
  const found: Array<number> = []
  for (let from = 0; from + 2 * length < samples.length; from += length) {
    const energy = correlation(samples, from, length, 0)
    if (energy / length < 1_000 ** 2) continue
    let [best, bestAt] = [0, 0]
    for (let lag = Math.floor(rateHz / pitchHighHz); lag <= Math.min(length, rateHz / pitchLowHz); lag++) {
      const sum = correlation(samples, from, length, lag)
      if (sum > best) [best, bestAt] = [sum, lag]
    }
    if (best > energy * 0.5) found.push(rateHz / bestAt)
  }
  found.sort((left, right) => left - right)
  const quantile = (share: number) => found[Math.floor(found.length * share)] ?? 0
  return { hz: quantile(0.5), spread: quantile(0.85) / quantile(0.15) }
}

const correlation = (samples: Int16Array, from: number, length: number, lag: number) => {
  let sum = 0
  for (let index = from; index < from + length; index++) sum += (samples[index] ?? 0) * (samples[index + lag] ?? 0)
  return sum
}

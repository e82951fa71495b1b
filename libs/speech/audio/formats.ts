/**
 * The output formats as a table: the name of each, how it is encoded and announced, and the grid to which the end of
 * the PCM is padded so that it decodes to exactly the announced length. A request that names none gets one by its
 * `Accept` header, or by its `audio_format`.
 */
import { type OutputFormat, speechSampleRateHz } from "#speech/contract"
import type { SpeechResponse } from "#speech/api"
import { greatestCommonDivisor } from "./resample.ts"

type Codec = "pcm" | "wav" | "ulaw" | "alaw" | "flac" | "mp3" | "opus" | "aac"
type AudioContainer = SpeechResponse["audio_format"]

const mp3Rates = [22_050, 24_000, 44_100] as const
const mp3Bitrates = [32, 64, 96, 128, 160, 192] as const
const oggBitrates = [16, 24, 32, 48, 64, 96, 128] as const
const flacRates = [24_000, 48_000] as const
const pcmRates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000] as const
const wavRates = [24_000, 48_000] as const

export interface AudioFormat {
  readonly name: OutputFormat
  /** The name in the answer: up to 24 kHz mp3 is MPEG-2, which ends at 160 kbit/s, so `_192` is delivered as `_160`. */
  readonly deliveredName: OutputFormat
  readonly codec: Codec
  readonly sampleRateHz: number
  readonly bitrateKbps: number | null
  readonly mediaType: string
  readonly audioFormat: AudioContainer
  /** False for WAV: its header needs the size of the data that follows. */
  readonly isStreamable: boolean
  /** In samples of 24 kHz; fractional if the codec's frame is not a whole number of them. */
  readonly gridSamples: number
}

// The fewest samples of 24 kHz that are a whole number of samples at the other rate.
const wholeSamples = (rateHz: number) => speechSampleRateHz / greatestCommonDivisor(speechSampleRateHz, rateHz)

/** The highest rate of mp3 in MPEG-2. */
const mpeg2RateHzMax = 24_000
const mpeg2BitrateMax = 160
/** MPEG-1, at higher rates, has frames of twice as many samples. */
export const mp3FrameSamples = (rateHz: number): number => (rateHz > mpeg2RateHzMax ? 1_152 : 576)

const pcm = (rateHz: (typeof pcmRates)[number]): AudioFormat => ({
  name: `pcm_${rateHz}`,
  deliveredName: `pcm_${rateHz}`,
  codec: "pcm",
  sampleRateHz: rateHz,
  bitrateKbps: null,
  mediaType: `audio/L16; rate=${rateHz}; channels=1`,
  audioFormat: "pcm",
  isStreamable: true,
  gridSamples: wholeSamples(rateHz)
})

const mp3 = (rateHz: (typeof mp3Rates)[number], bitrateKbps: (typeof mp3Bitrates)[number]): AudioFormat => {
  const isMpeg2 = rateHz <= mpeg2RateHzMax
  return {
    name: `mp3_${rateHz}_${bitrateKbps}`,
    deliveredName: `mp3_${rateHz}_${isMpeg2 && bitrateKbps === 192 ? mpeg2BitrateMax : bitrateKbps}`,
    codec: "mp3",
    sampleRateHz: rateHz,
    bitrateKbps: isMpeg2 ? Math.min(bitrateKbps, mpeg2BitrateMax) : bitrateKbps,
    mediaType: "audio/mpeg",
    audioFormat: "mp3",
    isStreamable: true,
    gridSamples: (mp3FrameSamples(rateHz) * speechSampleRateHz) / rateHz
  }
}

const wav = (rateHz: (typeof wavRates)[number]): AudioFormat => ({
  ...pcm(rateHz),
  name: `wav_${rateHz}`,
  deliveredName: `wav_${rateHz}`,
  codec: "wav",
  mediaType: "audio/wav",
  audioFormat: "wav",
  isStreamable: false
})

const ulaw: AudioFormat = {
  ...pcm(8_000),
  name: "ulaw_8000",
  deliveredName: "ulaw_8000",
  codec: "ulaw",
  mediaType: "audio/basic",
  audioFormat: "ulaw"
}

const alaw: AudioFormat = {
  ...ulaw,
  name: "alaw_8000",
  deliveredName: "alaw_8000",
  codec: "alaw",
  mediaType: "audio/PCMA",
  audioFormat: "alaw"
}

const flac = (rateHz: (typeof flacRates)[number]): AudioFormat => ({
  ...pcm(rateHz),
  name: `flac_${rateHz}`,
  deliveredName: `flac_${rateHz}`,
  codec: "flac",
  mediaType: "audio/flac",
  audioFormat: "flac"
})

const lossy24 = { sampleRateHz: speechSampleRateHz, bitrateKbps: null, isStreamable: true } as const
const ogg: AudioFormat = {
  ...lossy24,
  name: "ogg_24000",
  deliveredName: "ogg_24000",
  codec: "opus",
  mediaType: "audio/ogg",
  audioFormat: "ogg",
  // The last page says where in it the audio ends.
  gridSamples: 1
}
const oggAt = (bitrateKbps: (typeof oggBitrates)[number]): AudioFormat => ({
  ...ogg,
  name: `ogg_24000_${bitrateKbps}`,
  deliveredName: `ogg_24000_${bitrateKbps}`,
  bitrateKbps
})
const aac: AudioFormat = {
  ...lossy24,
  name: "aac_24000",
  deliveredName: "aac_24000",
  codec: "aac",
  mediaType: "audio/aac",
  audioFormat: "aac",
  gridSamples: 1_024
}

/** All formats, in the order of the documentation. */
export const audioFormats: ReadonlyArray<AudioFormat> = [
  ...pcmRates.map(pcm),
  ...mp3Rates.flatMap((rateHz) => mp3Bitrates.map((bitrateKbps) => mp3(rateHz, bitrateKbps))),
  ...wavRates.map(wav),
  ulaw,
  alaw,
  ...flacRates.map(flac),
  ogg,
  ...oggBitrates.map(oggAt),
  aac
]

const byName = new Map<string, AudioFormat>(audioFormats.map((format) => [format.name, format]))

export const formatNamed = (name: string): AudioFormat | undefined => byName.get(name)

/** How many samples of 24 kHz the answer lasts for this many synthesized samples. */
export const paddedSamples = (format: AudioFormat, samples: number): number => {
  let units = Math.floor(samples / format.gridSamples)
  while (Math.round(units * format.gridSamples) < samples) units += 1
  return Math.round(units * format.gridSamples)
}

const ofContainer: Readonly<Record<AudioContainer, OutputFormat>> = {
  wav: "wav_24000",
  mp3: "mp3_24000_64",
  ogg: "ogg_24000",
  aac: "aac_24000",
  pcm: "pcm_24000",
  ulaw: "ulaw_8000",
  alaw: "alaw_8000",
  flac: "flac_24000"
}

/** The formats that can be streamed, the default first; WAV is not among them. */
const streamed: ReadonlyArray<readonly [AudioContainer, ReadonlyArray<string>]> = [
  ["mp3", ["audio/mpeg", "audio/mp3"]],
  ["ogg", ["audio/ogg"]],
  ["aac", ["audio/aac"]],
  ["pcm", ["audio/pcm", "audio/l16"]],
  ["ulaw", ["audio/basic"]],
  ["alaw", ["audio/pcma"]],
  ["flac", ["audio/flac"]]
]
const anyAudio = "audio/*"
const anything = "*/*"

interface Range {
  readonly mediaType: string
  readonly quality: number
}

const rangeOf = (text: string): Range => {
  const [mediaType = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith("q="))
  return { mediaType, quality: quality === undefined ? 1 : Number(quality.slice(2)) }
}

export const formatOfAudioFormat = (audioFormat: AudioContainer): AudioFormat | undefined =>
  formatNamed(ofContainer[audioFormat])

/**
 * The format of a stream by its `Accept` header, mp3 without one; undefined if none of its types can be served.
 * `envelope` is the media type in which the audio travels, if any. A header with only that type says nothing about the
 * audio, so any format will do; beside it, audio types decide.
 */
export const formatOfAccept = (accept: string | undefined, envelope?: string): AudioFormat | undefined => {
  if (accept === undefined || accept.trim() === "") return formatOfAudioFormat("mp3")
  const named = accept.split(",").map(rangeOf)
  const ranges = envelope === undefined ? named : rangesOfAudio(named, envelope)
  let best: { readonly container: AudioContainer; readonly quality: number; readonly place: number } | undefined
  for (const [container, mediaTypes] of streamed) {
    const place = placeOf(ranges, mediaTypes)
    const quality = ranges[place]?.quality ?? 0
    if (!(quality > 0)) continue
    // Among equal qualities the first named wins; among the formats of one range, our first.
    const isBetter = best === undefined || quality > best.quality || (quality === best.quality && place < best.place)
    if (isBetter) best = { container, quality, place }
  }
  return best === undefined ? undefined : formatOfAudioFormat(best.container)
}

const rangesOfAudio = (named: ReadonlyArray<Range>, envelope: string): ReadonlyArray<Range> => {
  const anyOfItsKind = `${envelope.split("/")[0]}/*`
  const isEnvelope = ({ mediaType }: Range) => mediaType === envelope || mediaType === anyOfItsKind
  const isOfAudio = ({ mediaType }: Range) => mediaType.startsWith("audio/") || mediaType === anything
  const takes = ({ quality }: Range) => quality > 0
  const rest = named.filter((range) => !isEnvelope(range))
  const takesAny =
    named.some((range) => isEnvelope(range) && takes(range)) && !rest.some((range) => isOfAudio(range) && takes(range))
  return takesAny ? [...rest, { mediaType: anyAudio, quality: 1 }] : rest
}

/** The index of the most specific range that matches one of these names of a type; -1 for none. */
const placeOf = (ranges: ReadonlyArray<Range>, mediaTypes: ReadonlyArray<string>) => {
  const exact = ranges.findIndex(({ mediaType }) => mediaTypes.includes(mediaType))
  if (exact !== -1) return exact
  const audio = ranges.findIndex(({ mediaType }) => mediaType === anyAudio)
  return audio === -1 ? ranges.findIndex(({ mediaType }) => mediaType === anything) : audio
}

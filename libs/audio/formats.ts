/**
 * The output formats as a table: what each is called, how it is encoded and announced, and the grid to
 * which the end of the PCM is padded so that it decodes to exactly the length that was announced.
 */

export type Codec = "pcm" | "wav" | "ulaw" | "mp3" | "opus" | "aac"
export type AudioContainer = "wav" | "mp3" | "ogg" | "aac" | "pcm" | "ulaw"

/** The rate of all PCM inside the fleet: mono, 16 bits, signed. */
export const fleetRateHz = 24_000

const mp3Rates = [22_050, 24_000] as const
const mp3Bitrates = [32, 64, 96, 128, 160, 192] as const
const pcmRates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000] as const
const wavRates = [24_000, 48_000] as const

type Mp3Name = `mp3_${(typeof mp3Rates)[number]}_${(typeof mp3Bitrates)[number]}`
type PcmName = `pcm_${(typeof pcmRates)[number]}`
type WavName = `wav_${(typeof wavRates)[number]}`
export type FormatName = PcmName | Mp3Name | WavName | "ulaw_8000" | "ogg_24000" | "aac_24000"

export interface AudioFormat {
  readonly name: FormatName
  /** What the answer says it is: MPEG-2 ends at 160 kbit/s, so `_192` is delivered as `_160`. */
  readonly deliveredName: FormatName
  readonly codec: Codec
  readonly sampleRateHz: number
  readonly bitrateKbps: number | null
  readonly mediaType: string
  readonly audioFormat: AudioContainer
  /** WAV is not: its header needs the size of what follows. */
  readonly isStreamable: boolean
  /** In samples of 24 kHz; a fraction where the codec's frame is no whole number of them. */
  readonly gridSamples: number
}

// The fewest samples of 24 kHz that are a whole number of samples at the other rate.
const wholeSamples = (rateHz: number) => {
  let [larger, smaller] = [fleetRateHz, rateHz]
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller]
  return fleetRateHz / larger
}

const mp3FrameSamples = 576
const mp3BitrateMax = 160

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

const mp3 = (rateHz: (typeof mp3Rates)[number], bitrateKbps: (typeof mp3Bitrates)[number]): AudioFormat => ({
  name: `mp3_${rateHz}_${bitrateKbps}`,
  deliveredName: `mp3_${rateHz}_${bitrateKbps === 192 ? mp3BitrateMax : bitrateKbps}`,
  codec: "mp3",
  sampleRateHz: rateHz,
  bitrateKbps: Math.min(bitrateKbps, mp3BitrateMax),
  mediaType: "audio/mpeg",
  audioFormat: "mp3",
  isStreamable: true,
  gridSamples: (mp3FrameSamples * fleetRateHz) / rateHz
})

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

const lossy24 = { sampleRateHz: fleetRateHz, bitrateKbps: null, isStreamable: true } as const
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
const aac: AudioFormat = {
  ...lossy24,
  name: "aac_24000",
  deliveredName: "aac_24000",
  codec: "aac",
  mediaType: "audio/aac",
  audioFormat: "aac",
  gridSamples: 1_024
}

/** All formats, in the order in which they are documented. */
export const audioFormats: ReadonlyArray<AudioFormat> = [
  ...pcmRates.map(pcm),
  ...mp3Rates.flatMap((rateHz) => mp3Bitrates.map((bitrateKbps) => mp3(rateHz, bitrateKbps))),
  ...wavRates.map(wav),
  ulaw,
  ogg,
  aac
]

const byName = new Map<string, AudioFormat>(audioFormats.map((format) => [format.name, format]))

/** The format of that name, if it is one. */
export const formatNamed = (name: string): AudioFormat | undefined => byName.get(name)

/** How many samples of 24 kHz the answer lasts when that many were synthesized. */
export const paddedSamples = (format: AudioFormat, samples: number): number => {
  let units = Math.floor(samples / format.gridSamples)
  while (Math.round(units * format.gridSamples) < samples) units += 1
  return Math.round(units * format.gridSamples)
}

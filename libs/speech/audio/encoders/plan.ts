/**
 * How ffmpeg, or libmp3lame in its place, encodes a format, and how its output is changed so that decoders play it
 * without the encoder's delay. Silence is fed ahead of every mp3 and aac answer: it opens the encoder and fills its
 * look-ahead while the process waits. The frames of that silence are dropped, so the first real samples come out within
 * a millisecond.
 *
 * Never `-fflags nobuffer`: it discards the input of the probing, the first 43 ms of every answer.
 */
import { aacFrameSamples, adtsShape, type FrameShape, mp3Shape, oggOpusShape } from "./frames.ts"
import { type AudioFormat, mp3FrameSamples } from "../formats.ts"

export type LossyCodec = "mp3" | "opus" | "aac"

export interface EncoderPlan {
  /** Processes with the same key are interchangeable. */
  readonly key: string
  readonly arguments: ReadonlyArray<string>
  readonly rateHz: number
  /** Silence fed ahead, in samples of `rateHz`. */
  readonly primeSamples: number
  /**
   * The minimum silence fed after each answer: enough to push out its last frame and to forget its content, so that the
   * same PCM becomes the same bytes whatever was encoded before. 0 if a process serves only one.
   */
  readonly pauseSamples: number
  /** The pause is lengthened until all samples since the start are a whole multiple of this. */
  readonly periodSamples: number
  /** How many frames belong to the samples before an answer. */
  readonly framesBefore: (samples: number) => number
  /** How many frames an answer of that many samples has. */
  readonly framesOf: (samples: number) => number
  readonly shape: FrameShape
  /** The bit rate at which libmp3lame writes the same bytes; null for another codec. */
  readonly lameKbps: number | null
  /** The delay that the info frame of an mp3 answer announces; otherwise null. */
  readonly infoDelaySamples: number | null
}

// LAME's own delay and the decoder's.
const mp3DelaySamples = 576 + 529
// The announced delay is a whole number of frames, one of MPEG-1 or two of MPEG-2, so that the remainder is one too;
// the difference is silence.
const mp3DelayAnnounced = 1_152
const mp3RunUp = mp3DelayAnnounced - mp3DelaySamples
// At 22,050 and 44,100 Hz a frame is not a whole number of bytes: the pattern of longer frames repeats after this many.
const mp3PeriodFrames = 49
// LAME needs two seconds of silence to return to its initial state, at 0.04 ms of a processor a frame.
const mp3PauseFrames = 80
const mp3PrimeFrames = 2 * mp3PeriodFrames
const decoderDelaySamples = 529

const aacPrimeFrames = 2

const words = (text: string) => text.split(" ")

interface CodecPlan extends Omit<EncoderPlan, "key" | "arguments" | "rateHz" | "lameKbps"> {
  readonly defaultKbps: number
  readonly arguments: ReadonlyArray<string>
}

const mp3Plan = (frameSamples: number): CodecPlan => ({
  defaultKbps: 64,
  // Without the bit reservoir no frame depends on another one, and each comes out 50 ms earlier.
  arguments: words("-c:a libmp3lame -reservoir 0 -write_xing 0 -id3v2_version 0 -f mp3"),
  primeSamples: mp3PrimeFrames * frameSamples + mp3RunUp,
  pauseSamples: mp3PauseFrames * frameSamples,
  periodSamples: mp3PeriodFrames * frameSamples,
  framesBefore: (samples) => (samples - mp3RunUp) / frameSamples,
  framesOf: (samples) => (samples + mp3DelayAnnounced) / frameSamples,
  shape: mp3Shape,
  infoDelaySamples: mp3DelayAnnounced - decoderDelaySamples
})

const codecPlans: Readonly<Record<LossyCodec, (rateHz: number) => CodecPlan>> = {
  mp3: (rateHz) => mp3Plan(mp3FrameSamples(rateHz)),
  aac: () => ({
    defaultKbps: 64,
    arguments: words("-c:a aac -f adts"),
    primeSamples: aacPrimeFrames * aacFrameSamples,
    // Its rate control never forgets: a second answer of one process would get other bytes.
    pauseSamples: 0,
    periodSamples: aacFrameSamples,
    // One more: the first frame of an AAC encoder is its delay.
    framesBefore: (samples) => samples / aacFrameSamples + 1,
    framesOf: (samples) => samples / aacFrameSamples,
    shape: adtsShape,
    infoDelaySamples: null
  }),
  opus: () => ({
    defaultKbps: 48,
    // A third of the work of the default level 10; no listener hears the difference in speech. By default the serial
    // number of a stream would be random.
    arguments: words(
      "-c:a libopus -frame_duration 20 -compression_level 5 -page_duration 100000 -fflags +bitexact -f ogg"
    ),
    // Its pages carry positions, so none can be left out; its delay is signalled anyway.
    primeSamples: 0,
    pauseSamples: 0,
    periodSamples: 1,
    framesBefore: () => 0,
    framesOf: () => Number.POSITIVE_INFINITY,
    shape: oggOpusShape,
    infoDelaySamples: null
  })
}

export const isLossy = (codec: AudioFormat["codec"]): codec is LossyCodec =>
  codec === "mp3" || codec === "opus" || codec === "aac"

export const encoderPlan = (codec: LossyCodec, rateHz: number, bitrateKbps: number | null): EncoderPlan => {
  const { defaultKbps, arguments: codecArguments, ...plan } = codecPlans[codec](rateHz)
  const kbps = bitrateKbps ?? defaultKbps
  return {
    ...plan,
    key: `${codec}_${rateHz}_${kbps}`,
    rateHz,
    lameKbps: codec === "mp3" ? kbps : null,
    arguments: [...inputArguments(rateHz), ...codecArguments, "-b:a", `${kbps}k`, "-flush_packets", "1", "pipe:1"]
  }
}

// The banner is kept: it is the sign that a process has started.
const inputArguments = (rateHz: number) => [
  ...words("-nostdin -nostats -loglevel level+info -threads 1 -max_alloc 33554432 -protocol_whitelist pipe"),
  ...words(`-flags low_delay -probesize 32 -analyzeduration 0 -f s16le -ar ${rateHz} -ac 1 -i pipe:0`)
]

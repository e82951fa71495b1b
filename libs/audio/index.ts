/** The audio: formats, samples, and the encoders that turn PCM into what a client asked for. */
export { encoderPlan } from "./encoder-plan.ts"
export { Encoders } from "./Encoders.ts"
export { type AudioError, EncoderFailed, EncoderMissing, EncoderOverloaded } from "./errors.ts"
export { FfmpegPool, ffmpegPoolDefaults, type FfmpegPoolOptions } from "./FfmpegPool.ts"
export { formatOfAccept, formatOfAudioFormat } from "./format-choice.ts"
export {
  type AudioContainer,
  type AudioFormat,
  audioFormats,
  type Codec,
  fleetRateHz,
  formatNamed,
  type FormatName,
  paddedSamples
} from "./formats.ts"
export { decodeMulaw, encodeMulaw } from "./g711.ts"
export { audioMetrics } from "./metrics.ts"
export { clampSample, concatPcm, crossFade, pcmFromBytes, pcmToBytes, withGain } from "./pcm.ts"
export { makeResampler, type Resampler } from "./resample.ts"
export { wavHeader, wavHeaderBytes } from "./wav.ts"

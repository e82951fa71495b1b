/** The audio: formats, samples, and the encoders that turn PCM into the format that a client asked for. */
export { Encoders } from "./encoders/encoders.ts"
export { type AudioError, EncoderFailed, EncoderMissing, EncoderOverloaded } from "./encoders/errors.ts"
export { audioMetrics } from "./encoders/metrics.ts"
export { encoderPlan } from "./encoders/plan.ts"
export { FfmpegPool, ffmpegPoolDefaults, type FfmpegPoolOptions } from "./encoders/pool.ts"
export {
  type AudioContainer,
  type AudioFormat,
  audioFormats,
  type Codec,
  fleetRateHz,
  formatNamed,
  formatOfAccept,
  formatOfAudioFormat,
  paddedSamples
} from "./formats.ts"
export { loudnessTarget, makeLoudnessLeveller } from "./loudness.ts"
export { type ContainedLimits, type ContainedRun, runContained } from "./recordings/contained-process.ts"
export { IntakeBusy, MediaToolMissing, ProgramMissing, RecordingUnusable } from "./recordings/errors.ts"
export {
  intakeMetrics,
  RecordingIntake,
  recordingIntakeDefaults,
  type RecordingIntakeOptions
} from "./recordings/intake.ts"
export {
  judgeRecording,
  type Recording,
  recordingHz,
  type RecordingLevels,
  type RecordingLimits
} from "./recordings/recording.ts"
export { makeResampler, type Resampler } from "./resample.ts"
export {
  clampSample,
  concatPcm,
  crossFade,
  decodeMulaw,
  encodeMulaw,
  pcmFromBytes,
  pcmToBytes,
  wavHeader,
  wavHeaderBytes
} from "./samples.ts"

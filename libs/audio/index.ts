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
export { type ContainedLimits, type ContainedRun, runContained } from "./intake/contained-process.ts"
export { IntakeBusy, MediaToolMissing, ProgramMissing, RecordingUnusable } from "./intake/errors.ts"
export { judgeRecording } from "./intake/judge-recording.ts"
export { intakeMetrics } from "./intake/metrics.ts"
export { type Recording, recordingHz, type RecordingLevels, type RecordingLimits } from "./intake/recording.ts"
export { RecordingIntake, recordingIntakeDefaults, type RecordingIntakeOptions } from "./intake/RecordingIntake.ts"
export { decodeMulaw, encodeMulaw } from "./g711.ts"
export { loudnessTarget, makeLoudnessLeveller } from "./loudness-leveller.ts"
export { audioMetrics } from "./metrics.ts"
export { clampSample, concatPcm, crossFade, pcmFromBytes, pcmToBytes } from "./pcm.ts"
export { makeResampler, type Resampler } from "./resample.ts"
export { wavHeader, wavHeaderBytes } from "./wav.ts"

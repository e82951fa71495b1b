/** The audio: formats, samples, recordings, and the encoders that turn PCM into the format that a client requested. */
export { chapterMediaTypes, type ChapterTags, writeChapterFile } from "./chapter-file.ts"
export { Encoders } from "./encoders/encoders.ts"
export { audioMetrics } from "./encoders/metrics.ts"
export { ffmpegPoolDefaults } from "./encoders/pool.ts"
export {
  type AudioError,
  EncoderFailed,
  EncoderOverloaded,
  FfmpegMissing,
  IntakeBusy,
  RecordingUnusable
} from "./errors.ts"
export {
  type AudioFormat,
  audioFormats,
  formatNamed,
  formatOfAccept,
  formatOfAudioFormat,
  paddedSamples
} from "./formats.ts"
export { makeLoudnessLeveller } from "./loudness.ts"
export {
  intakeMetrics,
  judgeRecording,
  type Recording,
  recordingHz,
  RecordingIntake,
  recordingIntakeDefaults,
  type RecordingLimits
} from "./recordings.ts"
export { makeResampler, resample } from "./resample.ts"
export { concatPcm, crossFade, pcmFromBytes, pcmToBytes, type SampleEncoding, wavHeader } from "./samples.ts"

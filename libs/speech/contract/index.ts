/** The messages, HTTP API and settings of speech, as data. */
export {
  type EmbeddedEngine,
  embeddedEngines,
  EngineVoice,
  type ModelEngine,
  type ProcessEngine,
  VoiceReference,
  VoiceTraits
} from "./engine-voice.ts"
export { EngineState, FigureVoice, recentFigures, SpeechFigures, SynthesizerEngines } from "./figures.ts"
export { type OutputFormat, outputFormats, streamedFormats, streamedMediaTypes } from "./formats.ts"
export { type JobAudioFormat, jobAudioFormats, JobOrder, jobStates } from "./jobs.ts"
export { type MarkKind, markKinds, OtherMark, PhonemeMark, SentenceMark, SpeechMarks, WordMark } from "./marks.ts"
export { byQuality, VoiceQuality } from "./voice-quality.ts"
export { findModel, type ModelId, type SpeechModel, speechModels } from "./models.ts"
export {
  type ChunkFrameHead,
  ChunkJob,
  type ChunkPiece,
  type Frame,
  frameCodec,
  frameSamplesMax,
  Lexeme,
  OtherVoice,
  type Pronunciation,
  ResumePoint,
  SequencerMail,
  SessionAnswer,
  SessionFrameHead,
  SessionRequest,
  type SpokenMark,
  speechSampleRateHz,
  SpeechTurn,
  WordStart
} from "./sessions.ts"
export { Audio, SpeechApi, SpeechSequencer, SpeechSynthesizer, VoiceCloning } from "./settings/speech.ts"
export { type VoiceModel, type VoiceProcess, Voices } from "./settings/voices.ts"

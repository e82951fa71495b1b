/**
 * Speech without the fleet around it: an input into chunks, engines that speak a chunk, and what an engine
 * says of its words into marks of the caller's own.
 */
export { type AlignChunk, alignChunk, type Aligned, type AlignToken, type AlignWord, timeOf } from "./timeline/align.ts"
export type { Engine_, EngineFrame, EngineJob, EnginePiece, EngineVoice } from "./engine/Engine.ts"
export { EngineBusy, type EngineError, EngineFailed, EngineMissing } from "./engine/errors.ts"
export { openEspeakPool } from "./engine/espeak/EspeakPool.ts"
export { engineMetrics } from "./engine/metrics.ts"
export { openFlitePool } from "./engine/flite/FlitePool.ts"
export * from "./text/index.ts"
export type { SharedVoice } from "./voices/voice.ts"
export { engineVoice, sharedVoices, voiceById } from "./voices/voices.ts"

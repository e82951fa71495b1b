/**
 * Speech without the fleet around it: from an input to chunks, engines that speak a chunk, and from an engine's word
 * starts to speech marks of the caller's own words. Cloned voices have a library of their own.
 */
export {
  admit,
  type AdmissionLimits,
  type AdmissionVerdict,
  type Asker,
  lateMsMax,
  type Load
} from "./admission/admit.ts"
export { type Listener, type Listeners, listeners } from "./admission/listeners.ts"
export { alignChunk, type Aligned } from "./align.ts"
export { type EngineFrame, EngineMissing, type SpeechEngine } from "./engine/Engine.ts"
export { embedded } from "./engine/embedded.ts"
export { engineMetrics } from "./engine/EnginePool.ts"
export { openZeroShotPool } from "./engine/zero-shot/ZeroShotPool.ts"
export { readInput } from "./read-input.ts"
export { isSsml } from "./ssml/document.ts"
export { ssmlLimits } from "./ssml/elements.ts"
export type { Chunk } from "./text/chunker.ts"
export { emotions } from "./text/style.ts"
export { defaultVoiceId, engineVoice, espeakLanguages, sharedVoices, type SharedVoice, voiceById } from "./voices.ts"

/**
 * Speech without the fleet around it: from an input to chunks, engines that speak a chunk, and from an engine's word
 * starts to speech marks of the caller's own words. Cloned voices have a library of their own.
 */
export {
  type AdmissionLimits,
  type AdmissionVerdict,
  admit,
  type Asker,
  lateMsMax,
  type Load
} from "./admission/admit.ts"
export { soundMsOf } from "./admission/buffer.ts"
export { type Listener, type Listeners, listeners } from "./admission/listeners.ts"
export { alignChunk, alignPhonemes } from "./align.ts"
export { type CaptionFormat, captionFiles } from "./captions/files.ts"
export {
  type Catalogue,
  catalogueOf,
  fleetCatalogue,
  fleetModels,
  type UsableCatalogue,
  SilentEngines
} from "./catalogue.ts"
export { otherVoices } from "./other-voices.ts"
export { type EngineFrame, type EngineJob, EngineMissing, type SpeechEngine } from "./engine/Engine.ts"
export { embedded } from "./engine/embedded.ts"
export { engineMetrics } from "./engine/EnginePool.ts"
export { modelEngine, modelMetrics, openModelPool } from "./engine/models/ModelPool.ts"
export { openProcessPool } from "./engine/process/ProcessPool.ts"
export { openZeroShotPool } from "./engine/zero-shot/ZeroShotPool.ts"
export { lexemesIn, type Lexicon, lexiconLimits, type Matcher, matcherOf } from "./lexicon/lexeme.ts"
export { readLexicon } from "./lexicon/lexicon.ts"
export { tellsPhonemes } from "./phonemes/engines.ts"
export { visemesOf } from "./phonemes/visemes.ts"
export { emptyInput, hasVisible, readInput } from "./read-input.ts"
export { isAudible, spokenWord, voiceOfEngine } from "./spoken-word.ts"
export { isSsml } from "./ssml/document.ts"
export { verbaliserVersion } from "./said/verbalise.ts"
export { silenceOf, ssmlClauseSplitter, ssmlOf } from "./ssml/live-clauses.ts"
export { ssmlLimits } from "./ssml/elements.ts"
export type { Chunk } from "./text/chunker.ts"
export { type Clause, clauseSplitter, type ClauseSplitter } from "./text/clauses.ts"
export type { Fault as TextFault } from "./text/runs.ts"
export { continuesAt } from "./text/sentences.ts"
export { emotions } from "./text/style.ts"
export { defaultVoiceId, engineVoice, espeakLanguages, sharedVoices, type SharedVoice, voiceById } from "./voices.ts"

/**
 * Voices that a workspace makes from a sample: the consent of its speaker, the measured traits of the voice, and the
 * engine's voice that comes closest to it.
 */
export { clonedEngineVoice, zeroShotVoice } from "./cloned-voice.ts"
export {
  consentLimits,
  consentMetrics,
  type ConsentRefusal,
  ConsentVerification,
  phraseWordsMatched
} from "./consent/ConsentVerification.ts"
export { makePhrase, newPhrase, PhraseCheck, pocketsphinxLayer } from "./consent/PhraseCheck.ts"
export { SpeakerCheck, speakerCheckLayer } from "./consent/SpeakerCheck.ts"
export { ConsentEvidence, PhraseMismatch, SpeakerMismatch, VerificationUnavailable } from "./consent/verdict.ts"
export { cloningMetrics, TooLittleVoice, VoiceMeasure, VoiceMeasureUnavailable } from "./measure/VoiceMeasure.ts"

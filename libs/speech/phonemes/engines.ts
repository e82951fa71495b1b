/** Which engines tell the phonemes that they speak. */
import type { EngineVoice } from "#speech/contract"

/** Those of models that read phonemes do; what a model reads is known only to who has its files. */
export const tellsPhonemes = (engine: EngineVoice["engine"]): boolean => engine.startsWith("model-")

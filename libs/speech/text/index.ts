/**
 * The text half of speech: an input, plain or SSML, into chunks that can be synthesised one by one, each with the
 * words to mark and their places in the input as it was sent. No IO; knows nothing of engines and audio.
 */
export { breakMillisecondsMax } from "./break-time.ts"
export type { Chunk, Piece, Reading, Sentence, Token } from "./chunks.ts"
export { chunkLimits } from "./cuts.ts"
export { type Emotion, emotions } from "./emotions.ts"
export type { Prosody } from "./prosody.ts"
export { silentDb } from "./prosody.ts"
export { readInput, type ReadOptions } from "./read-input.ts"
export type { Fault, Span } from "./runs.ts"
export { isSsml } from "./ssml.ts"
export { ssmlLimits } from "./ssml-rules.ts"
export { type Emphasis, plainStyle, sameStyle, type Style } from "./style.ts"

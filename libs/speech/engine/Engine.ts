/**
 * The port to every engine that turns text into sound. A job is one chunk of plain text in one voice, cut into pieces
 * where the style changes. The result is PCM in the fleet's format (24,000 Hz, mono, 16 bit) and the position of each
 * word in it. An engine never sees markup: style is four numbers, and text is only ever spoken.
 */
import type { Stream } from "effect"
import type { EngineVoice, WordStart } from "#contracts"
import type { EngineError } from "./errors.ts"

/** All PCM inside the fleet has this rate. */
export const engineHz = 24_000

/** Plain text and its style, relative to the voice: 100, 100, 100 and 0 leave the voice as it is. */
export interface EnginePiece {
  readonly text: string
  readonly ratePercent: number
  readonly pitchPercent: number
  readonly rangePercent: number
  readonly volumeDb: number
}

export interface EngineJob {
  readonly voice: EngineVoice
  /** The recording that a zero-shot voice refers to: 16,000 Hz, mono. */
  readonly reference?: { readonly samples: Int16Array }
  readonly pieces: ReadonlyArray<EnginePiece>
}

/** A run of the job's PCM and the words that begin in it; runs follow each other without a gap. */
export interface EngineFrame {
  readonly pcm: Int16Array
  readonly words: ReadonlyArray<WordStart>
}

export interface SpeechEngine {
  readonly name: string
  /** Interrupting the stream ends the synthesis within one callback of the engine. */
  readonly synthesize: (job: EngineJob) => Stream.Stream<EngineFrame, EngineError>
}

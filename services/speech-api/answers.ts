/** The JSON that the speech routes answer with, from what was spoken. Pure. */
import type { AudioFormat } from "#audio"
import type { SentenceMark, SpeechMarks, WordMark } from "#contracts"

interface SentenceSpan {
  readonly turn: number
  readonly start: number
  readonly end: number
}

/** Words in their sentences, sentences in one node. Values are slices of their turn's input. */
export const nestMarks = (
  inputs: ReadonlyArray<string>,
  sentences: ReadonlyArray<SentenceSpan>,
  words: ReadonlyArray<WordMark>
): SpeechMarks => {
  const isDialogue = inputs.length > 1
  let at = 0
  const nodes: Array<SentenceMark> = []
  for (const sentence of sentences) {
    const own: Array<WordMark> = []
    for (let word = words[at]; word !== undefined && isWithin(word, sentence); word = words[++at]) own.push(word)
    const [first, last] = [own[0], own.at(-1)]
    if (first === undefined || last === undefined) continue
    nodes.push({
      type: "sentence",
      start: sentence.start,
      end: sentence.end,
      start_time: first.start_time,
      end_time: last.end_time,
      value: inputs[sentence.turn]?.slice(sentence.start, sentence.end) ?? "",
      ...(isDialogue ? { turn: sentence.turn } : {}),
      chunks: own
    })
  }
  const input = inputs.join("\n")
  return {
    type: "paragraph",
    start: 0,
    end: input.length,
    start_time: nodes[0]?.start_time ?? 0,
    end_time: nodes.at(-1)?.end_time ?? 0,
    value: input,
    chunks: nodes
  }
}

const isWithin = (word: WordMark, sentence: SentenceSpan) =>
  (word.turn ?? 0) < sentence.turn || ((word.turn ?? 0) === sentence.turn && word.start < sentence.end)

export interface WholeSpeech {
  readonly audio: Uint8Array
  readonly format: AudioFormat
  /** Told back only to callers that asked for a format by its name. */
  readonly isFormatNamed: boolean
  readonly billableCharacters: number
  readonly durationMs: number
  readonly marks: SpeechMarks
}

export const speechBody = ({ audio, format, isFormatNamed, billableCharacters, durationMs, marks }: WholeSpeech) => ({
  audio_data: Buffer.from(audio.buffer, audio.byteOffset, audio.length).toString("base64"),
  audio_format: format.audioFormat,
  ...(isFormatNamed ? { output_format: format.deliveredName } : {}),
  billable_characters_count: billableCharacters,
  audio_duration_ms: durationMs,
  speech_marks: marks
})

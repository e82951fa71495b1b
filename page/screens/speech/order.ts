import type { DialogueRequest, StreamRequest } from "#speech/api"

/** What is to be spoken; its format is the page's choice. */
export type SpeechOrder =
  | { readonly kind: "text"; readonly request: Omit<StreamRequest, "output_format">; readonly hasMarks: boolean }
  | { readonly kind: "dialogue"; readonly request: Omit<DialogueRequest, "output_format" | "audio_format"> }

interface Speaker {
  readonly id: string
  readonly real_time?: boolean
}

interface Manner {
  readonly hasMarks: boolean
  /** Empty for the default. */
  readonly model: string
}

/** A voice that is slower than real time is asked for all of it, as the one speaker of a dialogue. */
export const orderFor = (
  { id, real_time: isRealTime = true }: Speaker,
  input: string,
  { hasMarks, model }: Manner = { hasMarks: true, model: "" }
): SpeechOrder =>
  isRealTime
    ? { kind: "text", hasMarks, request: { input, voice_id: id, ...(model === "" ? {} : { model }) } }
    : { kind: "dialogue", request: { turns: [{ input, voice_id: id }] } }

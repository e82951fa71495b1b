import type { DialogueRequest, StreamRequest } from "#speech/api"

/** What is to be spoken; its format is the page's choice. */
export type SpeechOrder =
  | { readonly kind: "text"; readonly request: Omit<StreamRequest, "output_format">; readonly hasMarks: boolean }
  | { readonly kind: "dialogue"; readonly request: Omit<DialogueRequest, "output_format" | "audio_format"> }

/**
 * Which model lies in a folder, by the names of its files: pure. A ZipVoice model takes on the voice of a reference;
 * a VITS model has a voice of its own and speaks with it whatever the reference. Files beyond these are not looked at.
 */
import { join } from "node:path"

export interface ModelFiles {
  readonly vits?: {
    readonly model: string
    readonly tokens: string
    readonly lexicon?: string
    readonly dataDir?: string
  }
  readonly zipvoice?: {
    readonly encoder: string
    readonly decoder: string
    readonly vocoder: string
    readonly tokens: string
    readonly lexicon?: string
    readonly dataDir?: string
  }
}

export type FoundModel =
  | { readonly kind: "zipvoice" | "vits"; readonly files: ModelFiles }
  | { readonly kind: "none"; readonly detail: string }

/** What releases call them: with or without the width of their numbers, and the vocoder by its rate. */
const patterns = {
  encoder: /^encoder(?:\.[a-z0-9]+)?\.onnx$/u,
  decoder: /^decoder(?:\.[a-z0-9]+)?\.onnx$/u,
  vocoder: /^voc[a-z0-9_]*(?:\.[a-z0-9]+)?\.onnx$/u,
  model: /^model(?:\.[a-z0-9]+)?\.onnx$/u
}

export const modelIn = (folder: string, names: ReadonlyArray<string>): FoundModel => {
  const found = (part: keyof typeof patterns) => names.find((name) => patterns[part].test(name))
  const has = (name: string) => names.includes(name)
  const shared = {
    tokens: join(folder, "tokens.txt"),
    ...(has("lexicon.txt") ? { lexicon: join(folder, "lexicon.txt") } : {}),
    ...(has("espeak-ng-data") ? { dataDir: join(folder, "espeak-ng-data") } : {})
  }
  const [encoder, decoder, vocoder, model] = [found("encoder"), found("decoder"), found("vocoder"), found("model")]
  if (!has("tokens.txt")) return { kind: "none", detail: "it has no tokens.txt" }
  if (encoder !== undefined && decoder !== undefined && vocoder !== undefined) {
    const at = (name: string) => join(folder, name)
    return {
      kind: "zipvoice",
      files: { zipvoice: { ...shared, encoder: at(encoder), decoder: at(decoder), vocoder: at(vocoder) } }
    }
  }
  if (model !== undefined) return { kind: "vits", files: { vits: { ...shared, model: join(folder, model) } } }
  const detail = "it has neither encoder.onnx, decoder.onnx and vocoder.onnx (ZipVoice) nor model.onnx (VITS)"
  return { kind: "none", detail }
}

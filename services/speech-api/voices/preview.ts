/** What a voice of the catalogue says in its preview, in each language, and where that can be heard. Pure. */
import { type ModelId, type OutputFormat, speechModels } from "#speech/contract"
import type { SharedVoice } from "#speech"
import { isInRange } from "./speakable.ts"

/** By language: a greeting and a sentence of everyday sounds. */
const texts: Readonly<Record<string, string>> = {
  en: "Hello there. This is how I sound when I read a sentence to you.",
  de: "Guten Tag. So klinge ich, wenn ich Ihnen einen Satz vorlese.",
  es: "Hola. Así suena mi voz cuando te leo una frase.",
  fr: "Bonjour. Voici ma voix quand je vous lis une phrase.",
  it: "Buongiorno. Questa è la mia voce quando ti leggo una frase.",
  pt: "Olá. É assim que a minha voz soa quando leio uma frase para você.",
  nl: "Goedendag. Zo klink ik wanneer ik u een zin voorlees.",
  pl: "Dzień dobry. Tak brzmi mój głos, kiedy czytam zdanie.",
  sv: "Hej. Så här låter jag när jag läser en mening för dig.",
  cs: "Dobrý den. Takhle zním, když vám čtu větu.",
  tr: "Merhaba. Size bir cümle okurken sesim böyle çıkıyor.",
  ru: "Здравствуйте. Так звучит мой голос, когда я читаю вам предложение.",
  hi: "नमस्ते। जब मैं आपको एक वाक्य सुनाता हूँ, तो मेरी आवाज़ ऐसी लगती है।",
  zh: "你好。这就是我给你读一句话的声音。"
}
/** Every language reads digits. */
const digits = "1, 2, 3, 4, 5."

export const previewPath = (voiceId: string, locale?: string): string => {
  const path = `/v1/voices/${encodeURIComponent(voiceId)}/preview`
  return locale === undefined ? path : `${path}?locale=${encodeURIComponent(locale)}`
}

interface PreviewOrder {
  readonly turns: readonly [{ readonly voice_id: string; readonly input: string }]
  readonly model: ModelId
  readonly language: string
  readonly output_format: OutputFormat
  readonly lexicons: readonly []
}

/** The order of a preview; undefined for a language that the voice does not speak. */
export const previewOrder = (
  { id, locale, models }: Pick<SharedVoice, "id" | "locale" | "models">,
  wanted: string | undefined
): PreviewOrder | undefined => {
  for (const { name, languages } of models) {
    const spoken = wanted === undefined ? locale : languages.find((each) => isInRange(each, wanted))
    const isDialogue = speechModels.some((model) => model.id === name && model.isDialogue)
    if (isDialogue || spoken === undefined || !languages.includes(spoken)) continue
    return {
      turns: [{ voice_id: id, input: texts[spoken.split("-")[0] ?? ""] ?? digits }],
      model: name,
      language: spoken,
      output_format: "mp3_24000_64",
      // The preview presents the voice, the same to all workspaces.
      lexicons: []
    }
  }
  return undefined
}

/**
 * The throats of espeak-ng from which a cloned voice is made, and what each of them measures in each language when
 * nothing is asked of it: with the same measures that are taken of a sample, over the fable of the north wind and
 * the sun, with espeak-ng 1.51. `gainDb` brings it to -18 LUFS.
 */

export interface BaseVoice {
  /** Appended to the name of a language. */
  readonly variant: string
  readonly gender: "male" | "female"
  /** Of the formants of espeak's own voice. */
  readonly formantPercent: number
}

export const baseVoices: ReadonlyArray<BaseVoice> = [
  { variant: "", gender: "male", formantPercent: 100 },
  { variant: "+m3", gender: "male", formantPercent: 95 },
  { variant: "+f2", gender: "female", formantPercent: 110 },
  { variant: "+f5", gender: "female", formantPercent: 109.5 }
]

export interface LanguageMeasures {
  readonly syllablesPerSecond: number
  readonly pitchRangeSemitones: number
  /** In the order of `baseVoices`. */
  readonly medianPitchHz: ReadonlyArray<number>
  readonly gainDb: ReadonlyArray<number>
}

const row = (
  syllablesPerSecond: number,
  pitchRangeSemitones: number,
  medianPitchHz: ReadonlyArray<number>,
  gainDb: ReadonlyArray<number>
): LanguageMeasures => ({ syllablesPerSecond, pitchRangeSemitones, medianPitchHz, gainDb })

export const languageMeasures = {
  "en-US": row(4.9, 3.4, [101, 103, 193, 203], [3.3, 3.1, 1.6, 3.2]),
  "en-GB": row(5, 3.3, [100, 103, 192, 203], [2.6, 2.4, 1, 2.5]),
  "de-DE": row(5.2, 5.4, [99, 101, 188, 199], [2.8, 2.6, 1.1, 2.7]),
  "es-ES": row(5.5, 2.9, [103, 105, 196, 206], [3.4, 3.2, 1.7, 3.2]),
  "es-MX": row(5.4, 2.7, [103, 107, 199, 208], [3, 2.8, 1.3, 2.9]),
  "fr-FR": row(6.1, 3.9, [99, 102, 191, 201], [4.1, 3.8, 2.5, 4]),
  "it-IT": row(5.9, 3.5, [99, 102, 189, 200], [3.8, 3.7, 2, 3.4]),
  "pt-BR": row(5.4, 3.1, [102, 106, 197, 207], [2.3, 2.2, 0.5, 2.1]),
  "nl-NL": row(5.2, 3.5, [102, 106, 197, 207], [2.8, 2.6, 1.1, 2.7]),
  "pl-PL": row(4.5, 3.1, [102, 105, 196, 206], [3.2, 3.1, 1.2, 2.6]),
  "sv-SE": row(4.8, 2.9, [104, 107, 200, 210], [2.5, 2.5, 0.7, 2.4]),
  "cs-CZ": row(5.3, 5.6, [97, 100, 185, 196], [2.7, 2.5, 0.8, 2.2]),
  "tr-TR": row(5.5, 2.9, [102, 105, 195, 206], [2.1, 1.9, 0.5, 2]),
  "ru-RU": row(5.8, 3.6, [102, 104, 192, 202], [2.9, 2.9, 1.3, 2.7]),
  "hi-IN": row(5.6, 3, [102, 105, 197, 206], [1.6, 1.6, -0.2, 1.6]),
  "zh-CN": row(5.1, 4.4, [96, 99, 184, 195], [1.9, 1.6, 0.2, 1.9])
} as const satisfies Readonly<Record<string, LanguageMeasures>>

export type ClonedLocale = keyof typeof languageMeasures

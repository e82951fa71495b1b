/**
 * The symbols that Kokoro's models read, by their numbers: runs of symbols with consecutive numbers. From Kokoro-82M
 * (Apache-2.0).
 */
const runs: ReadonlyArray<readonly [first: number, symbols: string]> = [
  [1, ";:,.!?"],
  [9, '—…"()“” \u0303ʣʥʦʨᵝꭧAI'],
  [31, "O"],
  [33, "Q"],
  [35, "ST"],
  [39, "W"],
  [41, "Yᵊabcdef"],
  [50, "hijklmnopqrstuvwxyzɑɐɒæ"],
  [75, "βɔɕç"],
  [80, "ɖðʤə"],
  [85, "ɚɛɜ"],
  [90, "ɟ"],
  [92, "ɡ"],
  [99, "ɥ"],
  [101, "ɨɪʝ"],
  [110, "ɯɰŋɳɲɴø"],
  [118, "ɸθœ"],
  [123, "ɹ"],
  [125, "ɾɻ"],
  [128, "ʁɽʂʃʈʧ"],
  [135, "ʊʋ"],
  [138, "ʌɣɤ"],
  [142, "χʎ"],
  [147, "ʒʔ"],
  [156, "ˈˌː"],
  [162, "ʰ"],
  [164, "ʲ"],
  [169, "↓"],
  [171, "→↗↘"],
  [177, "ᵻ"]
]

export const vocabulary: ReadonlyMap<string, number> = new Map(
  runs.flatMap(([first, symbols]) => [...symbols].map((symbol, at) => [symbol, first + at] as const))
)

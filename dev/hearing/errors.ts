/** What was said and what was heard, made comparable, and how far apart they are. Pure. */

/** Two spellings of what sounds alike, the second of which is compared. */
const spellings: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(would|could|should|might|must)'ve\b/gu, "$1 have"],
  [/\bok\b/gu, "okay"],
  [/\bmr\b/gu, "mister"],
  [/\bmrs\b/gu, "missus"],
  [/\bdr\b/gu, "doctor"],
  [/(\w)our(s|ed|ing|able|ite|ites)?\b/gu, "$1or$2"],
  [/(\w)is(e|es|ed|ing|ation)\b/gu, "$1iz$2"],
  [/(\w)ll(er|ers|ed|ing)\b/gu, "$1l$2"],
  [/\bgrey/gu, "gray"],
  [/(\w)tre(s)?\b/gu, "$1ter$2"]
]

/** The words as they are compared: of one case, without punctuation, in one spelling. */
export const wordsIn = (text: string, language: string): ReadonlyArray<string> => {
  const plain = text.normalize("NFKC").toLowerCase().replaceAll(/[’‘]/gu, "'").replaceAll("ß", "ss")
  const spelt =
    language === "en"
      ? spellings.reduce((all, [from, to]) => all.replaceAll(from, to), plain.replaceAll(".", ""))
      : plain
  return spelt.match(/[\p{L}\p{N}]+(?:'[\p{L}]+)*/gu) ?? []
}

/** Marks of length, voice, syllable and place, and the ties of affricates, in which two notations differ. */
const phonemeDetails = /[\p{M}ːˑ˞ʰʲʷˠˤ‿\s]/gu

/** A string of phonemes as single sounds. */
export const phonemesIn = (symbols: string): ReadonlyArray<string> => [
  ...symbols.normalize("NFD").replaceAll(phonemeDetails, "").replaceAll("ɡ", "g")
]

/**
 * How many of those said were lost, added, or heard as others. Words that were heard as one, or one that was heard as two,
 * are right when their letters are.
 */
export const errorsBetween = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): number => {
  const rows: Array<ReadonlyArray<number>> = [Array.from({ length: heard.length + 1 }, (_, at) => at)]
  const cost = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (const [index, word] of said.entries()) {
    const next = [index + 1]
    rows.push(next)
    for (const [at, other] of heard.entries()) {
      const isJoined = at > 0 && `${heard[at - 1]}${other}` === word
      const isSplit = index > 0 && `${said[index - 1]}${word}` === other
      next.push(
        Math.min(
          (next[at] ?? 0) + 1,
          cost(index, at + 1) + 1,
          cost(index, at) + (word === other ? 0 : 1),
          isJoined ? cost(index, at - 1) : Number.POSITIVE_INFINITY,
          isSplit ? cost(index - 1, at) : Number.POSITIVE_INFINITY
        )
      )
    }
  }
  return rows.at(-1)?.at(-1) ?? 0
}

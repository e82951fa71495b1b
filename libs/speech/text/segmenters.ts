/** Segmenters by locale, made once. A locale that cannot be read, or one too many of them, gets that of English. */
import { Result } from "effect"

type Granularity = "sentence" | "word"

const localesMax = 64
const made = new Map<string, Intl.Segmenter>()

export const segmenterOf = (locale: string, granularity: Granularity): Intl.Segmenter => {
  const key = `${granularity} ${locale}`
  const known = made.get(key)
  if (known !== undefined) return known
  const wanted = made.size < localesMax ? locale : "en"
  const segmenter = Result.getOrElse(
    Result.try(() => new Intl.Segmenter(wanted, { granularity })),
    () => new Intl.Segmenter("en", { granularity })
  )
  if (made.size < localesMax) made.set(key, segmenter)
  return segmenter
}

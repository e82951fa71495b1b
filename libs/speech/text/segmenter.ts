/** The segmenters of `Intl`, kept by locale. */
import { Result } from "effect"

type Granularity = "sentence" | "word"

const localesMax = 64
const made = new Map<string, Intl.Segmenter>()

/** Segmenters by locale, created once. An unreadable locale, or one beyond the bound, gets the English one. */
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

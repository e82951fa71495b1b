/**
 * Letters and digits that are Latin underneath, as PDF text and decorated names have them: ligatures, full-width and
 * mathematical letters, digits in circles. They become the plain ones of Unicode's NFKC; what has no width goes. Pure.
 */
import type { TextRun } from "../text/runs.ts"

/**
 * Roman numerals and fractions have one sign each, and are numbers: they stay for those who read numbers. Soft hyphens,
 * zero-width spaces, byte order marks and selectors of a text's look are not seen.
 */
const rewritten =
  /[\ufb00-\ufb06\uff01-\uff5e\uffe0-\uffe6\u2080-\u2089\u2460-\u249b\u24b6-\u24ff\u2776-\u2793\u3300-\u33ff\u2100-\u2121\u2123-\u214f\u01c4-\u01cc\u01f1-\u01f3\u0132\u0133\u0149\u02b0-\u02b8\u1d2c-\u1d6a\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f149}]|\u{ad}|\u{200b}|\u{2060}|\u{feff}|\u{fe0e}/gu

/** The same run in plain letters; each letter keeps the place of what it stood for. */
export const withPlainLetters = (run: TextRun): TextRun => {
  if (run.text.search(rewritten) === -1) return run
  const parts: Array<string> = []
  const [starts, ends]: [Array<number>, Array<number>] = [[], []]
  const copy = (from: number, to: number) => {
    parts.push(run.text.slice(from, to))
    for (let at = from; at < to; at += 1) {
      starts.push(run.starts[at] ?? 0)
      ends.push(run.ends[at] ?? 0)
    }
  }
  let done = 0
  for (const { 0: written, index } of run.text.matchAll(rewritten)) {
    copy(done, index)
    done = index + written.length
    const plain = plainOf(written)
    parts.push(plain)
    for (let at = 0; at < plain.length; at += 1) {
      starts.push(run.starts[index] ?? 0)
      ends.push(run.ends[done - 1] ?? 0)
    }
  }
  copy(done, run.text.length)
  return { ...run, text: parts.join(""), starts: Int32Array.from(starts), ends: Int32Array.from(ends) }
}

const enclosed = /[()[\].,]/gu

/** "①" is 1, as "⑴" and "⒈" are. */
const plainOf = (written: string) => {
  if (/\p{Cf}|\u{fe0e}/u.test(written)) return ""
  const plain = written.normalize("NFKC")
  return /[\u2460-\u249b]/u.test(written) ? plain.replaceAll(enclosed, "") : plain
}

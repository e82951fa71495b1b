/** Where the characters of a spoken line stand in its document. */

/**
 * A run of a line: [index in the line, offset in the document, length in the document], in UTF-16 units. It equals its
 * slice of the document, but for one kind of white space for another, or it is what the slice decodes to, and then
 * shorter: an entity, several spaces, `<br>`. A run of length 0 ends a line whose last run is decoded.
 */
export type SourceRun = readonly [text: number, source: number, length: number]

/** Part of a line, with its runs. */
export interface Sourced {
  readonly text: string
  readonly source: ReadonlyArray<SourceRun>
}

/** Where a slice of a line stands in its document: from the first to the last character of it there. */
export const sourceSpan = (
  { source }: Pick<Sourced, "source">,
  start: number,
  end: number
): readonly [start: number, end: number] => {
  const first = Math.max(0, runAt(source, start))
  const [text = 0, from = 0, length = 0] = source[first] ?? []
  const startsAt = from + (isDecoded(source, first) ? 0 : Math.min(Math.max(0, start - text), length))
  const last = runAt(source, end - 1)
  const [lastText = 0, lastFrom = 0, lastLength = 0] = source[last] ?? []
  const endsAt = lastFrom + (isDecoded(source, last) ? lastLength : Math.min(end - lastText, lastLength))
  return [startsAt, Math.max(startsAt, endsAt)]
}

/** A slice of a line. A character that is decoded to two units stays whole in the document. */
export const sliced = ({ source, text }: Sourced, from: number, to: number): Sourced => {
  const runs: Array<SourceRun> = []
  let end: SourceRun | undefined
  for (let at = Math.max(0, runAt(source, from)); at < source.length; at += 1) {
    const [start, offset, length] = source[at] ?? [0, 0, 0]
    if (start >= to) break
    const skipped = Math.max(0, from - start)
    const isWhole = isDecoded(source, at)
    const taken = isWhole ? length : Math.min(length - skipped, to - start - skipped)
    if (taken <= 0) continue
    runs.push([start + skipped - from, isWhole ? offset : offset + skipped, taken])
    end = isWhole ? [to - from, offset + length, 0] : undefined
  }
  return { text: text.slice(from, to), source: end === undefined ? runs : [...runs, end] }
}

/** The index of the last run that begins at or before `place`; -1 without one. */
const runAt = (source: ReadonlyArray<SourceRun>, place: number) => {
  let [low, high] = [0, source.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((source[middle]?.[0] ?? Infinity) <= place) low = middle + 1
    else high = middle
  }
  return low - 1
}

const isDecoded = (source: ReadonlyArray<SourceRun>, at: number) => {
  const [text = 0, , length = 0] = source[at] ?? []
  return length > (source[at + 1]?.[0] ?? Infinity) - text
}

/**
 * How fast something grows, and how sure that is: a straight line through the means of equal parts of the time. Samples
 * that follow each other are alike (a garbage collector saws), so a line through them all would seem surer than it is. Pure.
 */
export interface Slope {
  readonly perHour: number
  /** Half the width of the interval that holds the true slope with 95 % confidence. */
  readonly margin: number
}

const parts = 12
/** Student's t, two-sided, 95 %, for `parts - 2` degrees of freedom. */
const t95 = 2.228

/** Of samples taken at equal distances over so many hours. Not a number with fewer samples than parts. */
export const slopeOf = (samples: ReadonlyArray<number>, hours: number): Slope => {
  if (samples.length < parts || hours <= 0) return { perHour: Number.NaN, margin: Number.NaN }
  const means = Array.from({ length: parts }, (_, part) =>
    meanOf(
      samples.slice(Math.floor((part * samples.length) / parts), Math.floor(((part + 1) * samples.length) / parts))
    )
  )
  const at = means.map((_, part) => ((part + 0.5) * hours) / parts)
  const [atMean, mean] = [meanOf(at), meanOf(means)]
  const spread = sumOf(at.map((x) => (x - atMean) ** 2))
  const perHour = sumOf(means.map((y, index) => ((at[index] ?? 0) - atMean) * (y - mean))) / spread
  const left = sumOf(means.map((y, index) => (y - mean - perHour * ((at[index] ?? 0) - atMean)) ** 2))
  return { perHour, margin: t95 * Math.sqrt(left / (parts - 2) / spread) }
}

export const meanOf = (values: ReadonlyArray<number>) => sumOf(values) / values.length

const sumOf = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

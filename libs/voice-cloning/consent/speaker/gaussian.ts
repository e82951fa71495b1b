/**
 * The distance of two voices: each is a Gaussian with a full covariance matrix over its cepstra, and the distance is
 * the symmetric Kullback-Leibler divergence. It distinguishes vocal tracts, not persons. Pure.
 */
import { cepstraOf, coefficients } from "./cepstra.ts"

interface Gaussian {
  readonly mean: Float64Array
  /** Row by row. */
  readonly covariance: ReadonlyArray<Float64Array>
}

/** Added to each variance, because a tone that never changes has none of its own. */
const ridge = 0.05

export const gaussianOf = (vectors: ReadonlyArray<Float64Array>): Gaussian => {
  const size = coefficients
  const count = Math.max(1, vectors.length)
  const mean = new Float64Array(size)
  for (const vector of vectors) for (const [at, value] of vector.entries()) mean[at] = (mean[at] ?? 0) + value / count
  const covariance = Array.from({ length: size }, () => new Float64Array(size))
  for (const vector of vectors) {
    for (const [row, line] of covariance.entries()) {
      const rowValue = (vector[row] ?? 0) - (mean[row] ?? 0)
      for (let column = 0; column < size; column++) {
        line[column] = (line[column] ?? 0) + (rowValue * ((vector[column] ?? 0) - (mean[column] ?? 0))) / count
      }
    }
  }
  for (const [row, line] of covariance.entries()) line[row] = (line[row] ?? 0) + ridge
  return { mean, covariance }
}

/** 0 for the same voice, symmetric, never negative. */
export const divergence = (one: Gaussian, other: Gaussian): number => {
  const [inverseOne, inverseOther] = [inverse(one.covariance), inverse(other.covariance)]
  let sum = -2 * coefficients
  for (let row = 0; row < coefficients; row++) {
    const rowGap = (one.mean[row] ?? 0) - (other.mean[row] ?? 0)
    for (let column = 0; column < coefficients; column++) {
      const [atOne, atOther] = [inverseOne[row]?.[column] ?? 0, inverseOther[row]?.[column] ?? 0]
      const columnGap = (one.mean[column] ?? 0) - (other.mean[column] ?? 0)
      sum += atOther * (one.covariance[row]?.[column] ?? 0) + atOne * (other.covariance[row]?.[column] ?? 0)
      sum += (atOne + atOther) * rowGap * columnGap
    }
  }
  return Math.max(0, sum / 2)
}

/** Gauss-Jordan elimination; the matrix is positive definite, so no pivot vanishes. */
const inverse = (matrix: ReadonlyArray<Float64Array>): ReadonlyArray<Float64Array> => {
  const size = matrix.length
  const rows = matrix.map((line, row) => {
    const wide = new Float64Array(2 * size)
    wide.set(line)
    wide[size + row] = 1
    return wide
  })
  for (const [pivot, line] of rows.entries()) {
    const scale = line[pivot] ?? 1
    for (let column = 0; column < 2 * size; column++) line[column] = (line[column] ?? 0) / scale
    for (const [row, other] of rows.entries()) {
      const factor = other[pivot] ?? 0
      if (row === pivot || factor === 0) continue
      for (let column = 0; column < 2 * size; column++) {
        other[column] = (other[column] ?? 0) - factor * (line[column] ?? 0)
      }
    }
  }
  return rows.map((row) => row.slice(size))
}

/** A second of speech. */
const framesMin = 100

/** Larger than any measured distance. */
export const distanceCeiling = 1_000

/** The distance between the speech of two recordings; the ceiling when one of them has less than a second of it. */
export const voiceDistance = (one: Int16Array, other: Int16Array, rateHz: number): number => {
  const [cepstraOne, cepstraOther] = [cepstraOf(one, rateHz), cepstraOf(other, rateHz)]
  if (cepstraOne.length < framesMin || cepstraOther.length < framesMin) return distanceCeiling
  return Math.min(distanceCeiling, divergence(gaussianOf(cepstraOne), gaussianOf(cepstraOther)))
}

/**
 * Makes samples louder or softer in place, by decibels. Peaks that would clip are bent below full scale: no crackle.
 */

const fullScale = 32_767
const knee = 0.8 * fullScale
const room = fullScale - knee

export const amplify = (pcm: Int16Array, decibels: number): void => {
  if (decibels === 0) return
  const factor = 10 ** (decibels / 20)
  for (let at = 0; at < pcm.length; at++) pcm[at] = bent((pcm[at] ?? 0) * factor, factor)
}

const bent = (value: number, factor: number) => {
  const size = Math.abs(value)
  if (factor <= 1 || size <= knee) return Math.round(value)
  return Math.sign(value) * Math.round(knee + room * Math.tanh((size - knee) / room))
}

/**
 * Plain text as one run. What a C library would stumble over, half surrogate pairs and control characters, becomes
 * something harmless of the same length, so that every unit keeps its place. Line ends stay: they part sentences.
 */
import { Run } from "./runs.ts"
import { plainStyle } from "./style.ts"

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/gu

export const readPlainText = (input: string): ReadonlyArray<Run> => {
  const text = input.toWellFormed().replaceAll(controls, " ")
  const starts = Int32Array.from({ length: text.length }, (_, index) => index)
  const ends = starts.map((start) => start + 1)
  return [Run.Text(text, starts, ends, plainStyle)]
}

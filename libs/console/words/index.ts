/** Events, numbers, sizes and times in words: what a terminal and the page have in common. */
export { lineOf } from "./event-line.ts"
export { bytes, clipped, count, countOf, duration, figure, percent, rate, relative } from "./figures.ts"

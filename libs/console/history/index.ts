/** How often each thing of a fleet was used, how well and how fast, over the last day and the last thirty. */
export type { Reading } from "#console/readings"
export { minutes } from "./minutes.ts"
export { hour, minute, rings } from "./rings.ts"
export { HistorySpan, spanOf } from "./spans.ts"

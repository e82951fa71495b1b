/** How often each thing of a fleet was used, how well and how fast, over the last day and the last thirty. */
export type { Reading, Scan } from "#console/readings"
export { minutes } from "./minutes.ts"
export { hour, minute, rings } from "./rings.ts"
export { HistorySpan, spanOf } from "./spans.ts"
export {
  happening,
  HappeningsOfHour,
  hourNumberOf,
  hoursKept,
  hourWith,
  newestOf,
  type Noted,
  noticed,
  taken
} from "./timeline.ts"

/**
 * A message that the broker keeps until a moment and then moves to another subject of the same stream. One
 * schedule per subject, so the holding subject must carry a unique token. The broker fires on a 250 ms grid:
 * `fireAtMs` is set that much early, and whoever takes the message waits out the rest.
 */
import { isoTime } from "#contracts"
import { header, type HeaderPairs } from "./message-headers.ts"

/** How far apart the broker's own clock for schedules ticks. */
export const scheduleGridMs = 250

/** Headers that turn a message into a schedule. */
export const scheduleHeaders = (dueAtMs: number, targetSubject: string): HeaderPairs => [
  [header.schedule, `@at ${isoTime(dueAtMs - scheduleGridMs)}`],
  [header.scheduleTarget, targetSubject]
]

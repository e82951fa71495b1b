/** Where audio goes: a file or a sound card. */
import type { Effect } from "effect"
import type { CommandRefused } from "./connect.ts"

export interface SaySink {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, CommandRefused>
  /** Returns when that moment of the audio is heard; at once where nobody listens. */
  readonly heard: (atMs: number) => Effect.Effect<void>
  /** Returns when all of it is written or heard. */
  readonly finish: Effect.Effect<void, CommandRefused>
}

/** What makes a relay: where from, where to, and what follows from a run of messages. */
import type { Effect } from "effect"
import type { HealthLoop } from "#runtime"
import type { BatchMessage } from "./atomic-batch.ts"
import type { SourceMessage } from "./read-in-order.ts"
import type { CursorPlace, RelayStep } from "./relay-step.ts"

export interface RelayOptions<Cursor, E, R> {
  /** Names the relay in metrics and logs. */
  readonly name: string
  readonly source: string
  readonly target: string
  /** Where in the target stream the cursor is. */
  readonly place: CursorPlace<Cursor>
  /** The cursor of a relay that never ran, given the source's last sequence. */
  readonly begin: (lastSequence: number) => Cursor
  /** Source sequence up to which `cursor` has everything. */
  readonly position: (cursor: Cursor) => number
  /** False of a cursor that a twin with another configuration has made its own, and that `aside` would change. */
  readonly isOurs: (cursor: Cursor) => boolean
  readonly translate: (
    run: ReadonlyArray<SourceMessage>,
    cursor: Cursor
  ) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  readonly aside: (cursor: Cursor) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  /** Called with every cursor known to be stored, and what this relay wrote with it: nothing, where a twin did. */
  readonly onCursor: (cursor: Cursor, written: ReadonlyArray<BatchMessage>) => Effect.Effect<void, never, R>
  /** Runs each time the relay has taken the cursor up and is about to read on. */
  readonly onStarted: Effect.Effect<void, never, R>
  readonly loop: HealthLoop
}

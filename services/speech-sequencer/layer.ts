/**
 * The role speech-sequencer, whole.
 *
 * in: requests on `speech.sessions` (queue group), frames and credit on `speech.to.<instance>.<session>`
 * out: `speech.chunks.<engine>`, frames to `speech.to.<speech-api>.<session>`
 * state: none that outlives a session; a session whose sequencer dies is resumed by speech-api elsewhere
 * failure policy: a chunk that nobody makes is asked for three times, then the session fails; a client
 * without credit for 2 s is given up; full means busy, said at once
 */
import { Sequencer } from "./Sequencer.ts"

/** Needs the bus and the runtime. */
export const speechSequencer = Sequencer.layer

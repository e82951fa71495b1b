/**
 * The role speech-synthesizer, whole.
 *
 * in: `speech.chunks.<engine>` (SPEECH, a consumer per engine shared by all replicas), cancels on its mailbox, and
 * with a zero-shot model the recordings of `voice-samples`
 * out: PCM and word beginnings to `speech.to.<sequencer>.<session>`
 * state: none; a job is acked when all of it is sent
 * failure policy: a dead process's jobs are given to another after 1 s; a job that an engine cannot make is
 * told to the sequencer, which asks again or gives up; a crash of an engine thread fails its job alone
 */
import { Layer } from "effect"
import { Engines } from "./Engines.ts"
import { References } from "./References.ts"
import { Synthesizer } from "./Synthesizer.ts"

/** Needs the bus and the runtime. */
export const speechSynthesizer = Synthesizer.layer.pipe(Layer.provide(Engines.layer), Layer.provide(References.layer))

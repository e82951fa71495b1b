/** The port to whatever tells how far two voices lie apart. */
import { Context, type Effect } from "effect"
import type { Recording } from "#audio"
import type { ConsentEvidence } from "./evidence.ts"
import type { VerificationUnavailable } from "./errors.ts"

export class SpeakerCheck extends Context.Service<
  SpeakerCheck,
  {
    readonly method: string
    readonly strength: ConsentEvidence["speakerStrength"]
    /** Up to here two recordings count as one speaker's. */
    readonly distanceMax: number
    /** Not negative, the same either way round, 0 for one and the same recording. */
    readonly distance: (one: Recording, other: Recording) => Effect.Effect<number, VerificationUnavailable>
  }
>()("starling/speech/SpeakerCheck") {}

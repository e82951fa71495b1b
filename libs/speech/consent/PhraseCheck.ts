/** The port to whatever hears which words of the list were spoken after the agreement. */
import { Context, type Effect } from "effect"
import type { Recording } from "#audio"
import type { VerificationUnavailable } from "./errors.ts"

export class PhraseCheck extends Context.Service<
  PhraseCheck,
  {
    /** For the evidence: who listened. */
    readonly engine: string
    /** The words of the list in the order in which they were heard; none when the agreement was not heard. */
    readonly hear: (recording: Recording) => Effect.Effect<ReadonlyArray<string>, VerificationUnavailable>
  }
>()("starling/speech/PhraseCheck") {}

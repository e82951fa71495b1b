/** Speech as operators see it: the processes that serve it now, and the voices that they speak. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../http/declaration.ts"
import { Count, describe, Timestamp } from "../../primitives.ts"
import { FigureVoice, recentFigures } from "../../speech/figures.ts"
import { readCodes, refusals } from "./error-codes.ts"

const SpeechProcess = Schema.Struct({
  instance: Schema.String.pipe(describe("The process of speech-api.")),
  startedAt: Timestamp,
  sessions: Count.pipe(describe("Answers being spoken now.")),
  sessionsMax: Count,
  ...recentFigures
}).annotate({ identifier: "SpeechProcess" })

const SpeechVoice = Schema.Struct({
  ...FigureVoice.fields,
  hasPreview: Schema.Boolean.pipe(describe("Whether a running speech-api speaks it: `POST /v1/audio/speech` there."))
}).annotate({ identifier: "SpeechVoice" })

export const SpeechView = Schema.Struct({
  sessions: Count.pipe(describe("Answers being spoken now, by all processes.")),
  processes: Schema.Array(SpeechProcess).pipe(
    describe("Those that told of themselves in the last fifteen seconds; the figures are of the last five minutes.")
  ),
  voices: Schema.Array(SpeechVoice).pipe(
    describe("The voices that everybody has. Cloned ones are their workspaces' own.")
  )
}).annotate({ identifier: "Speech" })
export interface SpeechView extends Schema.Schema.Type<typeof SpeechView> {}

export const SpeechGroup = HttpApiGroup.make("speech", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getSpeech", "/speech", {
      disableCodecs: true,
      success: SpeechView,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at speech",
        description:
          "Who speaks now, how soon callers hear the first byte, how often sound ran out, and which voices there are."
      })
    )
  )
  .middleware(BearerToken)

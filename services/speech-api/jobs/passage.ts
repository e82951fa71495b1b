/**
 * A passage of a book, spoken in the background in one session. Words in a script that no voice reads would have a live
 * caller refused; in a book the voice says of them what it can.
 */
import { Effect, Stream, Struct } from "effect"
import { pcmToBytes } from "#speech/audio"
import type { SpokenMark, WordMark } from "#speech/contract"
import { Configuration } from "#configuration"
import { completed } from "../speaking/completed-plan.ts"
import { planSpeech, type SpeechPlan } from "../speaking/plan.ts"
import type { SpeechOrder } from "../speaking/session-progress.ts"
import { SpeechAdmission } from "../speaking/SpeechAdmission.ts"
import { SpeechSessions } from "../speaking/SpeechSessions.ts"
import type { InputRefused, SpeechFailed } from "../refusals.ts"
import { voicesFor } from "../voices/speakable.ts"
import { jobLimits } from "#speech/api"
import { JobFiles } from "./JobFiles.ts"
import type { JobAddress, JobPlan, PassagePlace, PlannedChapter, SpokenPassage } from "./record.ts"

type PlannedPassage = PlannedChapter["passages"][number]

/** The order of a passage, or of each voice of a job. */
export const planPassage = Effect.fnUntraced(function* (
  { workspace }: Pick<JobAddress, "workspace">,
  { request, speakers }: Pick<JobPlan, "request" | "speakers">,
  { turns }: Pick<PlannedPassage, "turns">
) {
  const { language, lexicons, model, options, speed, voice_id } = request
  const voiceOf = (speaker: number | undefined) => request.speakers?.[speakers[speaker ?? -1] ?? ""] ?? voice_id
  const order = {
    turns: turns.map(({ speaker, text }) => ({ voice_id: voiceOf(speaker), input: text })),
    ...(language === undefined ? {} : { language }),
    ...(lexicons === undefined ? {} : { lexicons }),
    ...(model === undefined ? {} : { model }),
    ...(options === undefined ? {} : { options }),
    ...(speed === undefined ? {} : { speed })
  }
  const planned = planSpeech(order, {
    route: "/v1/audio/jobs",
    accept: undefined,
    charactersMax: jobLimits.charactersMax,
    findVoice: yield* voicesFor(workspace, order.turns),
    textNormalization: (yield* Configuration).SpeechApi.TextNormalization
  })
  return yield* completed(yield* Effect.fromResult(planned), workspace)
})

interface Place extends PassagePlace {
  readonly address: JobAddress
}

/** Stores its sound and its marks. */
export const speakPassage = Effect.fn("speakPassage")(function* (
  { address, ...place }: Place,
  plan: SpeechPlan,
  turns: PlannedPassage["turns"]
) {
  const files = yield* JobFiles
  const session = yield* openSession(plan, turns)
  // The store fails with an error of its own where its content does.
  let failure: InputRefused | SpeechFailed | undefined
  const words: Array<WordMark> = []
  let samples = 0
  const sound = session.pieces.pipe(
    Stream.tapError((error) => Effect.sync(() => (failure = error))),
    Stream.map(({ marks, pcm }) => {
      samples += pcm.length
      words.push(...marks.filter(isWord))
      return pcmToBytes(pcm)
    }),
    Stream.filter(({ length }) => length > 0)
  )
  const spoken = (): SpokenPassage => ({ samples, sentences: session.sentences, words })
  return yield* Effect.mapError(files.keepPassage(address, place, sound, spoken), (error) => failure ?? error)
}, Effect.scoped)

const isWord = (mark: SpokenMark): mark is WordMark => mark.type === "word"

const openSession = Effect.fnUntraced(function* (
  { textNormalization, turns }: SpeechPlan,
  planned: PlannedPassage["turns"]
) {
  const sessions = yield* SpeechSessions
  const admission = yield* SpeechAdmission
  const paused = turns.map((turn, at) => ({ ...turn, pauseAfterMs: planned[at]?.pauseAfterMs ?? 0 }))
  const open = (spoken: SpeechOrder["turns"]) =>
    Effect.flatMap(admission.background, (pace) =>
      sessions.open({ turns: spoken, textNormalization, isBackground: true }, pace)
    )
  return yield* Effect.catchTag(open(paused), "InputRefused", () =>
    open(paused.map((turn) => Struct.omit(turn, ["otherVoices"])))
  )
})

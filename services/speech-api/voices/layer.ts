/** Cloned voices, whole: what the routes ask for, and the sweep behind them. Needs the bus and the runtime. */
import { Effect, Layer } from "effect"
import { RecordingIntake, recordingIntakeDefaults } from "#audio"
import { Configuration } from "#runtime"
import { consentSettings, ConsentVerification, VoiceMeasure } from "#speech"
import { Challenges } from "./Challenges.ts"
import { ClonedVoices } from "./ClonedVoices.ts"
import { Consents } from "./Consents.ts"
import { VoiceExam } from "./VoiceExam.ts"
import { VoiceFiles } from "./VoiceFiles.ts"
import { VoiceMaking } from "./VoiceMaking.ts"
import { VoiceRemoval } from "./VoiceRemoval.ts"

const examiners = Layer.unwrap(
  Effect.map(Configuration, ({ Audio, VoiceCloning }) =>
    Layer.mergeAll(
      RecordingIntake.layer({ ...recordingIntakeDefaults, ffmpegPath: Audio.FfmpegPath }),
      ConsentVerification.layer(consentSettings(VoiceCloning)),
      VoiceMeasure.layer
    )
  )
)

const kept = Layer.mergeAll(ClonedVoices.layer, Consents.layer, VoiceFiles.layer)
const removal = VoiceRemoval.layer.pipe(Layer.provideMerge(kept))
const making = VoiceMaking.layer.pipe(Layer.provide(VoiceExam.layer.pipe(Layer.provide(examiners))))

export const clonedVoices = Layer.mergeAll(making, VoiceRemoval.sweeping, Challenges.layer).pipe(
  Layer.provideMerge(removal)
)

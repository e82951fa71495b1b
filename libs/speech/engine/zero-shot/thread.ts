/** The entry of a zero-shot model's threads. */
import { type ModelFiles, openNeuralVoice } from "../sherpa/tts.ts"
import { serveJobs } from "../worker/serve.ts"
import { makeZeroShotSpeaker } from "./speaker.ts"

serveJobs(({ model }) => makeZeroShotSpeaker(openNeuralVoice(model as ModelFiles)))

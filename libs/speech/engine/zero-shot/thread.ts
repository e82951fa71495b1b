/** The entry of a zero-shot model's threads. */
import { serveJobs } from "../worker/serve.ts"
import type { ModelFiles } from "./ZeroShotPool.ts"
import { makeZeroShotSpeaker, openNeuralVoice } from "./speaker.ts"

serveJobs(({ model }) => makeZeroShotSpeaker(openNeuralVoice(model as ModelFiles)))

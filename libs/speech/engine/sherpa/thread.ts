/** The entry of the threads of sherpa-onnx's models, whose words espeak-ng's times are carried over to. */
import { serveJobs } from "../worker/serve.ts"
import { placeByEspeak } from "./place-words.ts"
import { makeSherpaSpeaker } from "./speaker.ts"
import { type ModelFiles, openNeuralVoice } from "./tts.ts"

interface SherpaModel {
  readonly files: ModelFiles
  readonly threads: number
}

serveJobs(({ model }) => {
  const { files, threads } = model as SherpaModel
  const placeWords = placeByEspeak()
  return makeSherpaSpeaker(openNeuralVoice(files, threads), placeWords)
})

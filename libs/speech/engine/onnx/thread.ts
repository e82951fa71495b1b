/** The entry of the threads of models that read phonemes. */
import { openEspeak } from "../espeak/binding.ts"
import { serveJobs } from "../worker/serve.ts"
import { type AcousticFiles, openAcousticModel } from "./acoustic-models.ts"
import { makeAcousticSpeaker } from "./speaker.ts"

// The first jobs of a small model are slow until its code is compiled; a large one's time goes into the model itself.
const warmUps = { hibari: 3, kokoro: 1 }

serveJobs(({ model }) => {
  const files = model as AcousticFiles
  const espeak = openEspeak()
  let language = ""
  const phonemize = (text: string, wanted: string) => {
    if (language !== wanted) espeak.setVoice(wanted)
    language = wanted
    return espeak.phonemes(text)
  }
  return makeAcousticSpeaker(openAcousticModel(files), phonemize, warmUps[files.kind])
})

/**
 * The entry of every engine's thread. It loads only the requested speaker, so that a thread is small, and needs no
 * library of another engine.
 */
import type { AcousticFiles } from "./onnx/acoustic-models.ts"
import type { ProcessModel } from "./process/speaker.ts"
import type { ModelFiles } from "./sherpa/tts.ts"
import type { PlaceWords } from "./sherpa/speaker.ts"
import type { SpeakerKind } from "./worker/protocol.ts"
import { MissingPart, serveJobs, type Speaker, type ThreadHost } from "./worker/serve.ts"

type Open = (model: object | undefined, host: ThreadHost) => Promise<Speaker>

const espeak: Open = async () => {
  const [{ openEspeak }, { makeEspeakSpeaker }] = await Promise.all([
    import("./espeak/binding.ts"),
    import("./espeak/speaker.ts")
  ])
  return makeEspeakSpeaker(openEspeak())
}

const flite: Open = async () => {
  const [{ openFlite }, { makeFliteSpeaker }] = await Promise.all([
    import("./flite/binding.ts"),
    import("./flite/speaker.ts")
  ])
  return makeFliteSpeaker(openFlite())
}

// The first jobs of a small model are slow until its code is compiled; a large one spends its time in the model itself.
const warmUps = { hibari: 3, kokoro: 1 }

/** A model that reads phonemes, which espeak-ng provides. */
const acoustic: Open = async (model, { isCancelled }) => {
  const [{ openEspeak }, { openAcousticModel }, { makeAcousticSpeaker }] = await Promise.all([
    import("./espeak/binding.ts"),
    import("./onnx/acoustic-models.ts"),
    import("./onnx/speaker.ts")
  ])
  const files = model as AcousticFiles
  const espeak = openEspeak()
  let language = ""
  const phonemize = (text: string, wanted: string) => {
    if (language !== wanted) espeak.setVoice(wanted)
    language = wanted
    return espeak.phonemes(text)
  }
  return makeAcousticSpeaker(openAcousticModel(files, isCancelled), phonemize, warmUps[files.kind])
}

interface SherpaModel {
  readonly files: ModelFiles
  readonly threads: number
}

/** A model of sherpa-onnx, whose word times are carried over from espeak-ng. */
const sherpa: Open = async (model) => {
  const [{ placeByEspeak }, { makeSherpaSpeaker }, { openNeuralVoice }] = await Promise.all([
    import("./sherpa/place-words.ts"),
    import("./sherpa/speaker.ts"),
    import("./sherpa/tts.ts")
  ])
  const { files, threads } = model as SherpaModel
  const placeWords = placeByEspeak()
  return makeSherpaSpeaker(openNeuralVoice(files, threads), placeWords)
}

const zeroShot: Open = async (model) => {
  const [{ openNeuralVoice }, { makeZeroShotSpeaker }] = await Promise.all([
    import("./sherpa/tts.ts"),
    import("./sherpa/zero-shot-speaker.ts")
  ])
  return makeZeroShotSpeaker(openNeuralVoice(model as ModelFiles))
}

/** An operator's program. On a host without espeak-ng words are placed by their length alone. */
const program: Open = async (model, host) => {
  const [{ placeByEspeak }, { openProcessSpeaker }] = await Promise.all([
    import("./sherpa/place-words.ts"),
    import("./process/speaker.ts")
  ])
  let place: PlaceWords | undefined
  const open = (): PlaceWords => {
    try {
      return placeByEspeak()
    } catch (error) {
      if (error instanceof MissingPart) return () => []
      throw error
    }
  }
  return openProcessSpeaker(model as ProcessModel, host, (spoken) => (place ??= open())(spoken))
}

const speakers: Readonly<Record<SpeakerKind, Open>> = {
  espeak,
  flite,
  acoustic,
  sherpa,
  "zero-shot": zeroShot,
  program
}

serveJobs(({ speaks, model }, host) => speakers[speaks](model, host))

/**
 * libflite, utterance by utterance. Its plan (tokens, their words, the ends of their segments) is read before its first
 * sample; the samples stream. Style is set on the utterance and never on the voice, so that threads share voices. The
 * library keeps feature names by pointer, so they live as long as the process. The noise in its breath comes from the C
 * library's random numbers: they are reseeded for each utterance, so that the same text gives the same samples, unless
 * another engine draws from them at that very moment.
 */
import { dirname, join } from "node:path"
import koffi, { type LibraryHandle } from "koffi"
import { findLibrary, loadLibrary, newCString } from "../worker/library.ts"
import { MissingPart } from "../worker/serve.ts"
import type { PhonesOfToken } from "./phones.ts"
import { type FliteFeatures, type FliteVoice, fliteVoices } from "./speaker.ts"

/** Called with the plan first; returns false to stop. */
type FliteCallback = (pcm: Int16Array, plan: Planned) => boolean

export interface Flite {
  readonly hz: number
  readonly synthesize: (text: FliteText, voice: FliteVoice, features: FliteFeatures, callback: FliteCallback) => void
}

/** Spaces and the printable characters of ASCII. */
export interface FliteText {
  readonly ascii: string
  /** The phones of single tokens, in text order. */
  readonly tokens: ReadonlyArray<PhonesOfToken>
  /** Its phones are told in the plan. */
  readonly isTold: boolean
}

/** The rate of all four voices. Plain kal, which is not among them, has 8,000. */
const voicesHz = 16_000
const samplesPerCallback = 1600
/** Any number would do; this is the seed of a process that never seeds. */
const noiseSeed = 1
const goOn = 0
const stop = -1

export const openFlite = (): Flite => {
  const path = findLibrary("libflite.so.1")
  const library = loadLibrary(path)
  const newUtterance = library.func("void *new_utterance()")
  const deleteUtterance = library.func("void delete_utterance(void *)")
  const setInputText = library.func("int utt_set_input_text(void *, const char *)")
  const initialize = library.func("void *utt_init(void *, void *)")
  const synth = library.func("void *utt_synth(void *)")
  const setFeature = library.func("void feat_set(void *, void *, void *)")
  const setFloat = library.func("void feat_set_float(void *, void *, float)")
  const newStreaming = library.func("void *new_audio_streaming_info()")
  const streamingValue = library.func("void *audio_streaming_info_val(void *)")
  const seedNoise = koffi.load(null).func("void srand(unsigned int)")
  library.func("int flite_init()")()

  const waveType = koffi.struct({ type: "void *", hz: "int", samples: "int", channels: "int", data: "void *" })
  const streamingType = koffi.struct({
    least: "int",
    call: "void *",
    utterance: "void *",
    item: "void *",
    own: "void *"
  })
  const callbackType = koffi.proto("int StarlingFliteCallback(void *wave, int start, int size, int last, void *info)")
  const plan = makeUtteranceReader(library, voicesHz)
  const taggerFor = makeTagger(library)
  const voices = new Map(fliteVoices.map((name) => [name, loadVoice(dirname(path), name)]))

  let current: FliteCallback = () => false
  let planned: Planned | undefined
  let isTold = false
  const callback = koffi.register((wave: bigint, start: number, size: number, _last: number, info: bigint) => {
    const { data: samples } = koffi.decode(wave, waveType) as { data: bigint }
    planned ??= plan((koffi.decode(info, streamingType) as { utterance: bigint }).utterance, isTold)
    const pcm = new Int16Array(koffi.view(samples + BigInt(start * 2), size * 2)).slice()
    return current(pcm, planned) ? goOn : stop
  }, koffi.pointer(callbackType))

  return {
    hz: voicesHz,
    synthesize: (text, voice, features, onAudio) => {
      current = onAudio
      planned = undefined
      isTold = text.isTold
      const utterance = newUtterance() as bigint
      const own = koffi.decode(utterance, "void *") as bigint
      setInputText(utterance, text.ascii)
      for (const [name, value] of Object.entries(features)) setFloat(own, lasting(name), value)
      // Freed together with the utterance, so each utterance gets its own.
      const streaming = newStreaming() as bigint
      const settings = { least: samplesPerCallback, call: callback, utterance: null, item: null, own: null }
      koffi.encode(streaming, streamingType, settings)
      setFeature(own, lasting("streaming_info"), streamingValue(streaming))
      initialize(utterance, voices.get(voice))
      if (text.tokens.length > 0) setFeature(own, lasting("pos_tagger_func"), taggerFor(text))
      seedNoise(noiseSeed)
      synth(utterance)
      deleteUtterance(utterance)
    }
  }
}

const loadVoice = (folder: string, name: FliteVoice) => {
  try {
    return loadLibrary(join(folder, `libflite_cmu_us_${name}.so.1`)).func(
      `void *register_cmu_us_${name}(const char *)`
    )(null)
  } catch (error) {
    throw new MissingPart(String(error))
  }
}

const names = new Map<string, bigint>()

const lasting = (name: string): bigint => {
  const known = names.get(name)
  if (known !== undefined) return known
  const made = newCString(name)
  names.set(name, made)
  return made
}

interface PlannedWord {
  /** The token of the text that the word speaks, as written there; several words can speak one. */
  readonly token: string
  readonly isFirstOfToken: boolean
  readonly sample: number
}

interface PlannedPhone {
  /** By its name in flite's set; `pau` is a pause. */
  readonly phone: string
  readonly sample: number
}

export interface Planned {
  readonly words: ReadonlyArray<PlannedWord>
  /** None unless they were asked for. */
  readonly phones: ReadonlyArray<PlannedPhone>
  /** The end of the last word; a pause follows. */
  readonly speechEnd: number
}

const tokensMax = 2000
const startPath = "R:SylStructure.daughter.daughter.R:Segment.p.end"
const endPath = "R:SylStructure.daughtern.daughtern.R:Segment.end"

/** Reads from a planned utterance which words speak which token of the text, and when each starts. */
const makeUtteranceReader = (library: LibraryHandle, hz: number): ((utterance: bigint, isTold: boolean) => Planned) => {
  const relation = library.func("void *utt_relation(void *, const char *)")
  const head = library.func("void *relation_head(void *)")
  const next = library.func("void *item_next(void *)")
  const daughter = library.func("void *item_daughter(void *)")
  // The library ends the process over a feature of another type, so each is read as the type it has.
  const text = library.func("const char *flite_ffeature_string(void *, const char *)")
  const number = library.func("float flite_ffeature_float(void *, const char *)")

  const siblings = (first: bigint | null) => {
    const all: Array<bigint> = []
    for (let item = first; item !== null && all.length < tokensMax; item = next(item) as bigint | null) all.push(item)
    return all
  }
  const phonesOf = (utterance: bigint) => {
    let sample = 0
    return siblings(head(relation(utterance, "Segment")) as bigint | null).map((segment) => {
      const phone = { phone: text(segment, "name") as string, sample }
      sample = Math.round((number(segment, "end") as number) * hz)
      return phone
    })
  }
  return (utterance, isTold) => {
    const words: Array<PlannedWord> = []
    let speechEnd = 0
    for (const token of siblings(head(relation(utterance, "Token")) as bigint | null)) {
      const name = text(token, "name") as string
      let isFirstOfToken = true
      for (const word of siblings(daughter(token) as bigint | null)) {
        const seconds = number(word, startPath) as number
        // A pause precedes every first word; 0 marks a word without a sound.
        if (seconds <= 0) continue
        words.push({ token: name, isFirstOfToken, sample: Math.round(seconds * hz) })
        isFirstOfToken = false
        speechEnd = Math.max(speechEnd, Math.round((number(word, endPath) as number) * hz))
      }
    }
    return { words, phones: isTold ? phonesOf(utterance) : [], speechEnd }
  }
}

/**
 * Sets the phones of tokens, which the library then uses in place of those that it finds for their words. Between the
 * two steps it tags words, and a function of our own can do that.
 */
const makeTagger = (library: LibraryHandle) => {
  const functionValue = library.func("void *uttfunc_val(void *)")
  const tagWords = library.func("void *default_pos_tagger(void *)")
  const relation = library.func("void *utt_relation(void *, const char *)")
  const head = library.func("void *relation_head(void *)")
  const next = library.func("void *item_next(void *)")
  const text = library.func("const char *flite_ffeature_string(void *, const char *)")
  const setString = library.func("void item_set_string(void *, void *, const char *)")
  const setPhones = (utterance: bigint, { ascii, tokens }: FliteText) => {
    let [after, count] = [0, 0]
    for (
      let token = head(relation(utterance, "Token")) as bigint | null;
      token !== null && count < tokensMax;
      token = next(token) as bigint | null
    ) {
      count += 1
      const name = text(token, "name") as string
      const at = ascii.indexOf(name, after)
      if (at === -1) continue
      after = at + name.length
      const own = tokens.find((one) => one.at >= at && one.at < after)
      if (own !== undefined) setString(token, lasting("phones"), own.phones)
    }
  }
  let current: FliteText = { ascii: "", tokens: [], isTold: false }
  const tag = (utterance: bigint) => {
    setPhones(utterance, current)
    return tagWords(utterance) as bigint
  }
  const tagger = koffi.register(tag, koffi.pointer(koffi.proto("void *StarlingFliteTagger(void *utterance)")))
  return (text: FliteText): bigint => {
    current = text
    return functionValue(tagger) as bigint
  }
}

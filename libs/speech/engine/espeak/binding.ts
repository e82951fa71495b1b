/**
 * libespeak-ng with its voices, called synchronously: only for a thread that does nothing else. The library keeps its
 * state in globals, so each thread loads its own copy; the copy's file is removed as soon as it is loaded. The flag for
 * SSML is never set, because with it text could name files to read. The library is never terminated, because
 * initializing it again hangs.
 */
import { copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import koffi, { type LibraryHandle } from "koffi"
import { findLibrary, freeCString, loadLibrary, newCString } from "../worker/library.ts"
import { MissingPart } from "../worker/serve.ts"

/** The last argument of a callback: espeak's events, closed by one of type 0. */
export interface EspeakEvent {
  readonly type: number
  readonly textPosition: number
  readonly sample: number
  /** The phoneme that starts, in IPA; empty for a pause. */
  readonly phoneme?: string
}

type EspeakCallback = (pcm: Int16Array, events: ReadonlyArray<EspeakEvent>) => boolean

export interface Espeak {
  readonly hz: number
  /** A language with an optional variant, "de+f2"; `more` are lines appended to the voice's file. */
  readonly setVoice: (name: string, more?: string) => boolean
  readonly setParameter: (parameter: keyof typeof parameters, value: number) => void
  /** The callback stops the synthesis by returning false. */
  readonly synthesize: (text: string, manner: EspeakManner, callback: EspeakCallback) => void
  /** Reads a clause into the list of phonemes, and speaks nothing. */
  readonly readClause: (text: string) => void
  /** The phonemes of an entire text as IPA, with `^` inside a single sound and spaces between words. */
  readonly phonemes: (text: string) => string
  /** The same for text with espeak-ng's own phoneme names, between [[ and ]]. */
  readonly soundsOf: (text: string) => string
}

interface EspeakManner {
  readonly endsWithPause: boolean
  /** Text between [[ and ]] is espeak-ng's own phoneme names. */
  readonly hasPhonemes: boolean
}

const parameters = { rate: 1, volume: 2, pitch: 3, range: 4 }
const synchronous = 2
const countedInCharacters = 1
const utf8 = 1
const phonemeInput = 0x1_00
const endPause = 0x10_00
const doNotExit = 0x80_00
const tellPhonemesInIpa = 0x03
const phonemeEvent = 7
const bufferMs = 50
const eventBytes = 40
const ipaTiedByCaret = 0x02 | 0x80 | (0x5e << 8)
// A text has a clause for each of its punctuation marks; this guards against a library that reads no further.
const clausesMax = 10_000
const eventsPerCallbackMax = 10_000

export const openEspeak = (): Espeak => {
  const library = loadCopy(findLibrary("libespeak-ng.so.1"))
  const callbackType = koffi.proto("int StarlingEspeakCallback(int16_t *wav, int count, void *events)")
  const initialize = library.func("int espeak_Initialize(int, int, const char *, int)")
  const setCallback = library.func("void espeak_SetSynthCallback(StarlingEspeakCallback *)")
  const setVoiceByFile = library.func("int espeak_SetVoiceByFile(const char *)")
  const setParameter = library.func("int espeak_SetParameter(int, int, int)")
  const synth = library.func("int espeak_Synth(const void *, size_t, uint, int, uint, uint, void *, void *)")
  const textToPhonemes = library.func("void *espeak_TextToPhonemes(void *, int, int)")

  const hz: number = initialize(synchronous, bufferMs, null, doNotExit | tellPhonemesInIpa)
  if (hz <= 0) throw new MissingPart("the library found no voice data")
  let current: EspeakCallback = () => false
  const callback = (samples: bigint | null, count: number, events: bigint) => {
    // The view is espeak's own buffer, which it refills, so the samples are copied.
    const pcm =
      count > 0 && samples !== null ? new Int16Array(koffi.view(samples, count * 2)).slice() : new Int16Array(0)
    return current(pcm, readEvents(events)) ? 0 : 1
  }
  setCallback(koffi.register(callback, koffi.pointer(callbackType)))
  const voiceFile = makeVoiceFiles(library)
  const nextClause = koffi.alloc("void *", 1)

  const synthesize: Espeak["synthesize"] = (text, { endsWithPause, hasPhonemes }, callback) => {
    const string = newCString(text)
    const flags = utf8 | (endsWithPause ? endPause : 0) | (hasPhonemes ? phonemeInput : 0)
    current = callback
    synth(string, Buffer.byteLength(text) + 1, 0, countedInCharacters, 0, flags, null, null)
    freeCString(string)
  }
  const phonemes = (text: string) => {
    const string = newCString(text)
    koffi.encode(nextClause, "void *", string)
    const clauses: Array<string> = []
    for (let left = clausesMax; left > 0 && koffi.decode(nextClause, "void *") !== null; left--) {
      const found = textToPhonemes(nextClause, utf8, ipaTiedByCaret) as bigint | null
      if (found !== null) clauses.push(koffi.decode(found, "char", -1) as string)
    }
    freeCString(string)
    return clauses.join(" ")
  }

  return {
    hz,
    setVoice: (name, more = "") => {
      const path = voiceFile(name, more)
      return path !== undefined && setVoiceByFile(path) === 0
    },
    setParameter: (parameter, value) => setParameter(parameters[parameter], value, 0),
    synthesize,
    readClause: (text) => {
      const string = newCString(text)
      koffi.encode(nextClause, "void *", string)
      textToPhonemes(nextClause, utf8, 0)
      freeCString(string)
    },
    phonemes,
    soundsOf: (text) => {
      // Only a synthesis sets the mode in which text is read, and it stays set.
      synthesize(" ", { endsWithPause: false, hasPhonemes: true }, () => false)
      return phonemes(text)
    }
  }
}

const loadCopy = (path: string) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-espeak-"))
  try {
    // The folder's random name makes the path unique, and a unique path is loaded as a separate library.
    const copy = join(folder, "libespeak-ng.so")
    copyFileSync(path, copy)
    return loadLibrary(copy)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const readEvents = (events: bigint): ReadonlyArray<EspeakEvent> => {
  const read: Array<EspeakEvent> = []
  for (let index = 0; index < eventsPerCallbackMax; index++) {
    // int type, uint id, int text_position, int length, int audio_position, int sample, pointer, union of 8 bytes.
    const event = new DataView(koffi.view(events + BigInt(index * eventBytes), eventBytes))
    const type = event.getInt32(0, true)
    if (type === 0) return read
    const place = { textPosition: event.getInt32(8, true), sample: event.getInt32(20, true) }
    if (type === phonemeEvent) read.push({ type, ...place, phoneme: shortString(event, 32) })
    else read.push({ type, ...place })
  }
  return read
}

const utf8Text = new TextDecoder()

/** At most eight bytes, which end with a zero if they are fewer. */
const shortString = ({ buffer, byteOffset }: DataView<ArrayBuffer>, at: number) => {
  const bytes = new Uint8Array(buffer, byteOffset + at, 8)
  const end = bytes.indexOf(0)
  return utf8Text.decode(end === -1 ? bytes : bytes.subarray(0, end))
}

/** The path of a voice's file by the voice's name, "de+f2"; `more` are lines appended to it. */
type VoiceFiles = (name: string, more: string) => string | undefined

/**
 * The voices of espeak-ng, changed so that they sound the same each time. Each voice's file is assembled from the
 * installed ones, without the parts that depend on earlier speech: the flutter of the pitch, which continues where it
 * stopped, and the breath, whose noise comes from the process' single random generator. Roughness is at most
 * espeak-ng's usual one, because the reset after a job finds only its periods of 2 and 4 cycles.
 */
const makeVoiceFiles = (library: LibraryHandle): VoiceFiles => {
  const installed = findInstalled(library)
  const paths = new Map<string, string>()
  return (name, more) => {
    const key = name + more
    const known = paths.get(key)
    if (known !== undefined) return known
    const texts = installed(name)
    if (texts === undefined) return undefined
    const path = unnamedFile(steadyVoice(texts.language, texts.variant) + more)
    paths.set(key, path)
    return path
  }
}

/** The lines in which a variant replaces the language's own voice. */
const throat = /^(?:pitch|formant|voicing|consonants|echo|tone|clarity|speed|breathw?|flutter|roughness)\b[^\n]*/gmu
const unsteady = /^(?:breathw?|flutter|roughness)\b[^\n]*/gmu
const roughness = /^roughness\s+(\d+)/mu
const usualRoughness = 2

/** One text from the text of the language and, if there is one, of the variant. Pure. */
export const steadyVoice = (language: string, variant?: string): string => {
  const text = variant === undefined ? language : `${language.replace(throat, "")}\n${variant}`
  const rough = Math.min(usualRoughness, Number(roughness.exec(text)?.[1] ?? usualRoughness))
  return `${text.replace(unsteady, "")}\nflutter 0\nroughness ${rough}\n`
}

const findInstalled = (library: LibraryHandle) => {
  const setVoiceByName = library.func("int espeak_SetVoiceByName(const char *)")
  const currentVoice = library.func("void *espeak_GetCurrentVoice()")
  const voiceType = koffi.struct({ name: "const char *", languages: "const char *", identifier: "const char *" })
  const folders: [string] = [""]
  library.func("const char *espeak_Info(_Out_ const char **)")(folders)
  const [folder] = folders
  return (name: string) => {
    const [language = "", variant] = name.split("+")
    if (setVoiceByName(language) !== 0) return undefined
    const { identifier } = koffi.decode(currentVoice() as bigint, voiceType) as { identifier: string }
    const paths = {
      language: ["lang", "voices"].map((kind) => join(folder, kind, identifier)).find((path) => existsSync(path)),
      variant: variant === undefined ? undefined : join(folder, "voices", "!v", variant)
    }
    if (paths.language === undefined) return undefined
    if (paths.variant === undefined) return { language: read(paths.language) }
    return existsSync(paths.variant) ? { language: read(paths.language), variant: read(paths.variant) } : undefined
  }
}

/** Reads byte for byte: not all of these files are UTF-8. */
const read = (path: string) => readFileSync(path, "latin1")

/** The path of a file that no longer has a name: it is removed with the thread, however the thread ends. */
const unnamedFile = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "starling-espeak-"))
  try {
    const path = join(folder, "voice")
    writeFileSync(path, text, "latin1")
    return `/dev/fd/${openSync(path, "r")}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

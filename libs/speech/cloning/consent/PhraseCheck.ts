/**
 * The phrase that a speaker reads to consent, and the check that it was read. pocketsphinx hears which words of the
 * list were spoken after the agreement: it is small, offline, English, and good at exactly this, recognizing the words
 * of a known list. One contained process per recording; its files are in a folder of their own that is removed with it.
 */
import { randomInt } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"
import { pcmToBytes, type Recording, recordingHz } from "#speech/audio"
import type { VoiceCloning } from "#speech/contract"
import { type ContainedLimits, runContained } from "#runtime"
import { VerificationUnavailable } from "./verdict.ts"

const phraseWordsAsked = 5

/** The spoken text before the words. */
const carrierSentences = ["i agree to have my voice cloned", "my words are"] as const

/**
 * The phrase that a speaker reads to consent: an agreement, then five words of a fixed list. The list has common words
 * of two or more syllables that sound unlike each other and are in the recognizer's dictionary. 50 words give 254
 * million phrases, so a recording made for one challenge does not answer another.
 */
export const phraseWordList: ReadonlyArray<string> = [
  "alphabet",
  "banana",
  "basket",
  "blanket",
  "butterfly",
  "camera",
  "candle",
  "carpet",
  "chicken",
  "cinnamon",
  "diamond",
  "dolphin",
  "elephant",
  "envelope",
  "fisherman",
  "forest",
  "garden",
  "guitar",
  "hammer",
  "harvest",
  "helicopter",
  "hospital",
  "island",
  "jacket",
  "kangaroo",
  "kitchen",
  "lemon",
  "library",
  "magnet",
  "marble",
  "mountain",
  "mushroom",
  "november",
  "ocean",
  "orange",
  "paper",
  "pencil",
  "piano",
  "potato",
  "pumpkin",
  "rainbow",
  "rocket",
  "saturday",
  "silver",
  "telephone",
  "thunder",
  "tomato",
  "umbrella",
  "violin",
  "window"
]

/** Five different random words; `below` returns a whole number from 0 up to, but not including, its argument. */
export const makePhrase = (below: (bound: number) => number): ConsentPhrase => {
  const left = [...phraseWordList]
  const words = Array.from({ length: phraseWordsAsked }, () => left.splice(below(left.length), 1).join(""))
  return { phrase: `I agree to have my voice cloned. My words are: ${words.join(", ")}.`, words }
}

/** Unpredictable: the words come from the system's generator for secrets. */
export const newPhrase: Effect.Effect<ConsentPhrase> = Effect.sync(() => makePhrase((bound) => randomInt(bound)))

export class PhraseCheck extends Context.Service<
  PhraseCheck,
  {
    /** The recognizer, for the evidence. */
    readonly engine: string
    /** The words of the list in the order in which they were heard; none if the agreement was not heard. */
    readonly transcribe: (recording: Recording) => Effect.Effect<ReadonlyArray<string>, VerificationUnavailable>
  }
>()("starling/speech/PhraseCheck") {}

type Section = Pick<VoiceCloning, "PocketsphinxPath" | "PocketsphinxModelFolder">

// 30 s of speech take 1 s and 40 MB, and 100 MB more of address space.
const limits: ContainedLimits = {
  wallMsMax: 20_000,
  cpuSecondsMax: 15,
  memoryMegabytesMax: 512,
  outputBytesMax: 65_536,
  fileKilobytesMax: 64
}

export const pocketsphinxLayer = (section: Section) =>
  Layer.sync(PhraseCheck, () => {
    let dictionary: string | undefined
    const readDictionary = Effect.suspend(() =>
      dictionary === undefined
        ? Effect.tap(modelDictionary(section), (read) => Effect.sync(() => (dictionary = read)))
        : Effect.succeed(dictionary)
    )
    const transcribe = Effect.fn("PhraseCheck.hear")(function* (recording: Recording) {
      const files = {
        "phrase.gram": phraseGrammar(),
        "phrase.dict": yield* readDictionary,
        recordings: "recording\n",
        "recording.raw": pcmToBytes(recording.samples)
      }
      const folder = yield* temporaryFolder(files)
      const run = yield* runContained(section.PocketsphinxPath, parameters(section, folder), limits).pipe(
        Effect.mapError(({ message }) =>
          unavailable("missing", `${message}; install it (apt-get install pocketsphinx) or name it in PocketsphinxPath`)
        )
      )
      if (run.ending === "wall_time" || run.ending === "cpu_time") {
        return yield* unavailable("timeout", `it did not end within ${limits.wallMsMax / 1_000} s`)
      }
      if (run.ending !== "ended" || run.exitCode !== 0) {
        return yield* unavailable(
          "failed",
          `it ended with ${run.exitCode ?? "a signal"}: ${run.stderr.slice(-500).trim()}`
        )
      }
      // "<what was heard> (<name> <score>)"
      const transcript = yield* failing(() => readFile(join(folder, "heard"), "utf8"))
      return wordsOf(transcript.replace(/ \([^()]*\)\s*$/u, ""))
    }, Effect.scoped)
    return PhraseCheck.of({ engine: "pocketsphinx", transcribe })
  })

const parameters = ({ PocketsphinxModelFolder }: Section, folder: string) =>
  Object.entries({
    hmm: join(PocketsphinxModelFolder, "en-us"),
    dict: join(folder, "phrase.dict"),
    jsgf: join(folder, "phrase.gram"),
    ctl: join(folder, "recordings"),
    cepdir: folder,
    cepext: ".raw",
    adcin: "yes",
    adchdr: "0",
    samprate: `${recordingHz}`,
    hyp: join(folder, "heard"),
    logfn: "/dev/null",
    // Wider than the defaults: two more words of 300 are recognized, in a third more time.
    beam: "1e-80",
    wbeam: "1e-60",
    pbeam: "1e-80"
  }).flatMap(([name, value]) => [`-${name}`, value])

const modelDictionary = ({ PocketsphinxModelFolder }: Section) =>
  Effect.gen(function* () {
    const path = join(PocketsphinxModelFolder, "cmudict-en-us.dict")
    const whole = yield* Effect.tryPromise({
      try: () => readFile(path, "utf8"),
      catch: (cause) =>
        unavailable("missing", `${String(cause)}; install it (apt-get install pocketsphinx-en-us) or name its folder`)
    })
    const missing = wordsMissing(whole)
    if (missing.length > 0) return yield* unavailable("failed", `${path} does not know ${missing.join(", ")}`)
    return phraseDictionary(whole)
  })

/** A folder with these files; removed with the scope. */
const temporaryFolder = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Effect.acquireRelease(
    failing(() => mkdtemp(join(tmpdir(), "starling-consent-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })).pipe(Effect.ignore)
  ).pipe(
    Effect.tap((folder) =>
      Effect.forEach(
        Object.entries(files),
        ([name, content]) => failing(() => writeFile(join(folder, name), content, { mode: 0o600 })),
        { discard: true }
      )
    )
  )

const failing = <A>(use: () => Promise<A>) =>
  Effect.tryPromise({ try: use, catch: (cause) => unavailable("failed", String(cause)) })

const unavailable = (reason: VerificationUnavailable["reason"], detail: string) =>
  new VerificationUnavailable({ stage: "phrase", reason, detail, retryAfterSeconds: reason === "missing" ? 60 : 5 })

const [agreement, lead] = carrierSentences
const carrier = `${agreement} ${lead}`

const denials = ["do not agree", "don't agree", "never agree", "disagree", "refuse"].map((denial) =>
  carrier.replace("agree", denial)
)

/**
 * The grammar of the recognizer. The recognizer bends all that it hears into the grammar, so the grammar also contains
 * what must not pass: any word of the list in every position, so that another phrase is heard as other words; and
 * openings that deny the agreement or omit it, so that these are not heard as the agreement.
 */
export const phraseGrammar = (): string => {
  const words = Array.from({ length: phraseWordsAsked }, () => "<word>").join(" ")
  return [
    "#JSGF V1.0;",
    "grammar consent;",
    `public <consent> = [<opening>] ${words};`,
    `<opening> = ${[carrier, ...denials, lead].join(" | ")};`,
    `<word> = ${phraseWordList.join(" | ")};`,
    ""
  ].join("\n")
}

/** The words of the list in the recognized text; none if it does not open with the agreement. */
export const wordsOf = (hypothesis: string): ReadonlyArray<string> => {
  const spoken = hypothesis.trim()
  return spoken.startsWith(`${carrier} `) ? spoken.split(" ").filter((word) => listed.has(word)) : []
}

const listed: ReadonlySet<string> = new Set(phraseWordList)

const spoken: ReadonlySet<string> = new Set([...[carrier, ...denials].join(" ").split(" "), ...phraseWordList])

/** The lines of a pronouncing dictionary that the grammar needs: loading all of it takes as long as listening. */
export const phraseDictionary = (dictionary: string): string =>
  dictionary
    .split("\n")
    .filter((line) => spoken.has(line.split(/[ (]/u, 1)[0] ?? ""))
    .join("\n")
    .concat("\n")

/** The words that a dictionary, complete or reduced, lacks; a grammar with one of them cannot be used. */
export const wordsMissing = (dictionary: string): ReadonlyArray<string> => {
  const known = new Set(dictionary.split("\n").map((line) => line.split(/[ (]/u, 1)[0]))
  return [...spoken].filter((word) => !known.has(word))
}

interface ConsentPhrase {
  /** Shown to the speaker exactly like this. */
  readonly phrase: string
  /** The words to listen for, lower-case. */
  readonly words: ReadonlyArray<string>
}

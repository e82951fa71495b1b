/**
 * Has the running fleet speak a text, to a file or to the sound card, and prints the words as they are heard. Ctrl-C
 * ends the request at once and leaves no partial file.
 */
import { Effect } from "effect"
import { fileOf } from "../files.ts"
import { note, print } from "../console.ts"
import { findFleet, type SpeechFleet } from "./client.ts"
import { readOrder, type SayGiven, type SayOrder } from "./order.ts"
import { openFile, openPlayer } from "./sinks.ts"
import { showWords, speak } from "./speech.ts"

export const say = Effect.fnUntraced(function* (given: SayGiven) {
  const order = yield* readOrder(given)
  const fleet = yield* findFleet
  if (order === undefined) return yield* printVoices(fleet)
  const file = order.file === undefined ? undefined : yield* openFile(yield* fileOf(order.file), order.format.wavRateHz)
  const durationMs = yield* speak(fleet, order, file ?? (yield* openPlayer), wordsOf(order))
  if (file === undefined) return
  // On standard error, for standard output carries the words.
  yield* note(`${file.path}: ${(durationMs / 1_000).toFixed(3)} s, ${file.bytes()} bytes`)
}, Effect.scoped)

const wordsOf = ({ text, marks }: SayOrder) =>
  showWords({
    text,
    marks,
    hasProgress: process.stderr.isTTY && !(marks !== undefined && process.stdout.isTTY),
    out: (words) => void process.stdout.write(words),
    progress: (line) => void process.stderr.write(line)
  })

const printVoices = Effect.fnUntraced(function* ({ api, call }: SpeechFleet) {
  const listed = yield* call(api.listVoices({ query: {} }))
  const voices = "voices" in listed ? listed.voices : listed
  const idWidth = Math.max(0, ...voices.map(({ id }) => id.length))
  const byLocale = voices.toSorted((left, right) => left.locale.localeCompare(right.locale))
  yield* Effect.forEach(
    byLocale,
    ({ id, gender, locale, tags }) =>
      print(`${id.padEnd(idWidth)}  ${locale}  ${gender.padEnd(6)}  ${(tags ?? []).join(", ")}`.trimEnd()),
    { discard: true }
  )
})

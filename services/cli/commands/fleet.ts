/** `up`, `try`, `role`, `top` and `console`: the fleet itself. */
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import type { RoleName } from "#base"
import { becoming, json, running, texts, toggle, url } from "../flags.ts"

export const up = Command.make(
  "up",
  { readyJson: toggle("ready-json", "once it is up, print every address as one line of JSON") },
  (given) =>
    becoming(
      () => import("#fleet/up"),
      ({ up }) => up(given)
    )
).pipe(
  Command.withShortDescription("start the whole fleet on this machine"),
  Command.withDescription(
    "Starts the whole fleet on this machine with its own broker, and prints every address. Without a configuration it adds a receiver, two chains and a model provider to try it with. Ctrl-C drains."
  ),
  Command.withExamples([{ command: "starling up" }])
)

export const trial = Command.make("try", {}, () =>
  running(
    () => import("../try.ts"),
    ({ trial }) => trial
  )
).pipe(
  Command.withShortDescription("watch a failure from start to finish, in a minute"),
  Command.withDescription(
    "Starts a fleet of its own, in a temporary folder and on free ports, so that a running fleet and its receivers are left alone. Registers an endpoint, delivers an event, breaks the receiver, waits until the fleet reports the abandoned delivery, mends the receiver, resends, and waits for the all-clear. Shows each command that it runs and what it prints, then removes everything. Ends with 1 when a step takes too long, and says where the fleet's log is."
  ),
  Command.withExamples([{ command: "starling try" }])
)

/** All roles; named here, so that help and completions need not load the contracts. */
export const roles = [
  "pipeline-api",
  "webhook-dispatcher",
  "sweeper",
  "speech-api",
  "speech-sequencer",
  "speech-synthesizer",
  "model-gateway",
  "payment-verifier",
  "payment-settler",
  "console"
] as const satisfies ReadonlyArray<RoleName>

export const role = Command.make(
  "role",
  {
    names: Argument.Literals("name", roles).pipe(
      Argument.withDescription("which roles"),
      Argument.variadic({ min: 1 })
    ),
    readyJson: toggle("ready-json", "once it is up, print its addresses as one line of JSON")
  },
  (given) =>
    becoming(
      () => import("#fleet/role"),
      ({ role }) => role(given)
    )
).pipe(
  Command.withShortDescription("run roles in this process, with a broker elsewhere"),
  Command.withDescription(
    "Runs the named roles in this process, on a broker that runs elsewhere. What a container runs."
  ),
  Command.withExamples([{ command: "starling role webhook-dispatcher sweeper" }])
)

const secondsMax = 3_600

const seconds = (given: string) => {
  const value = Number(given)
  return value >= 0.1 && value <= secondsMax ? Option.some(value) : Option.none()
}

export const top = Command.make(
  "top",
  {
    urls: texts("url", "URL", "the metrics address of a process, repeatable (this home's fleet)"),
    intervalSeconds: Flag.String("interval").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("between two frames (1)"),
      Flag.withDefault("1"),
      Flag.filterMap(seconds, () => `seconds, from 0.1 to ${secondsMax}`)
    ),
    once: toggle("once", "print one frame and exit"),
    json
  },
  (given) =>
    running(
      () => import("../top/top.ts"),
      ({ top }) => top(given)
    )
).pipe(
  Command.withShortDescription("watch conditions, roles, backlogs, breakers and latencies"),
  Command.withDescription(
    "The fleet as it is now, updated every second: conditions, roles, backlogs, breakers, payments, latencies. q quits. Prints a single frame where standard output is not a terminal."
  ),
  Command.withExamples([
    { command: "starling top" },
    { command: "starling top --once --json" },
    { command: "starling top --url http://10.0.0.7:9400 --url http://10.0.0.8:9400" }
  ])
)

export const consolePage = Command.make("console", { open: toggle("open", "open it in the browser"), url }, (given) =>
  running(
    () => import("../operate/client.ts"),
    ({ openPage }) => openPage(given)
  )
).pipe(
  Command.withShortDescription("print an address that signs a browser in to the console"),
  Command.withDescription(
    "Prints the address of the console's page, with a code that signs one browser in within ten minutes, with the rights of your token."
  ),
  Command.withExamples([{ command: "starling console --open" }])
)

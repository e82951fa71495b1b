/** `up` and `role`: the fleet itself. What they run is the fleet's. */
import { Argument, Command } from "effect/cli"
import type { RoleName } from "#contracts"
import { toggle } from "../flags.ts"
import { becoming } from "../running.ts"

export const up = Command.make(
  "up",
  { readyJson: toggle("ready-json", "print where everything is as one line of JSON on standard output, once it runs") },
  (given) =>
    becoming(
      () => import("#fleet/up"),
      ({ up }) => up(given)
    )
).pipe(
  Command.withShortDescription("start the whole fleet on this machine"),
  Command.withDescription(
    "Starts the whole fleet on this machine, with a broker of its own, and prints where everything is. Where nothing is configured, a receiver, two chains and a provider of models to try it with. Ctrl-C drains."
  ),
  Command.withExamples([{ command: "starling up" }])
)

/** Every role there is; named here, so that help and completions need not load the contracts. */
export const roles = [
  "pipeline-api",
  "webhook-dispatcher",
  "sweeper",
  "speech-api",
  "speech-sequencer",
  "speech-synthesizer",
  "model-gateway",
  "payment-verifier",
  "payment-settler"
] as const satisfies ReadonlyArray<RoleName>

export const role = Command.make(
  "role",
  {
    names: Argument.Literals("name", roles).pipe(
      Argument.withDescription("which roles"),
      Argument.variadic({ min: 1 })
    ),
    readyJson: toggle("ready-json", "print where it shows itself as one line of JSON on standard output, once it runs")
  },
  (given) =>
    becoming(
      () => import("#fleet/role"),
      ({ role }) => role(given)
    )
).pipe(
  Command.withShortDescription("run roles in this process, on a broker elsewhere"),
  Command.withDescription(
    "Runs the named roles in this process, on a broker that runs elsewhere. What a container runs."
  ),
  Command.withExamples([{ command: "starling role webhook-dispatcher sweeper" }])
)

/** `consents`: who agreed to have a voice cloned. */
import { Command, Flag } from "effect/cli"
import * as Effect from "effect/Effect"
import { json, nats, text, word } from "../flags.ts"
import { running } from "../running.ts"

const load = () => import("../consents.ts")

const family = Command.make("consents").pipe(
  Command.withSharedFlags({ workspace: text("workspace", "NAME", "those of this workspace alone"), json, nats }),
  Command.withHandler((given) => running(load, ({ listConsents }) => listConsents(given))),
  Command.withShortDescription("who agreed to have a voice cloned"),
  Command.withDescription(
    "Who agreed to have a voice cloned, with how strong a proof. Consents of voices that are deleted are among them. Without a command, the list."
  )
)

const list = Command.make("list", {}, () =>
  Effect.flatMap(family, (given) => running(load, ({ listConsents }) => listConsents(given)))
).pipe(Command.withDescription("Every consent, a line each."))

const get = Command.make(
  "get",
  {
    id: word("voice-id", "of the list"),
    out: Flag.File("out").pipe(Flag.withMetavar("FILE"), Flag.withDescription("a new file, which nobody else may read"))
  },
  (given) =>
    Effect.flatMap(family, ({ workspace, nats }) =>
      running(load, ({ saveConsent }) => saveConsent({ ...given, workspace, nats }))
    )
).pipe(
  Command.withDescription("Writes the recording of a consent to a file."),
  Command.withExamples([{ command: "starling consents get 3f8a1c0de4b7 --out consent.wav" }])
)

export const consents = family.pipe(Command.withSubcommands([list, get]))

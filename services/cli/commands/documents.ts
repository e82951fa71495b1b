/** `docs` and `topology`: what is generated from the code. */
import { Command } from "effect/cli"
import { running } from "../running.ts"

const load = () => import("../documents.ts")

export const docs = Command.make("docs", {}, () => running(load, ({ writeDocuments }) => writeDocuments)).pipe(
  Command.withShortDescription("write the generated documents"),
  Command.withDescription("Writes the generated documents below docs/.")
)

export const topology = Command.make("topology", {}, () => running(load, ({ printTopology }) => printTopology)).pipe(
  Command.withShortDescription("print the streams and buckets of the bus"),
  Command.withDescription("Prints the streams and buckets of the bus.")
)

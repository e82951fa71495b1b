/** Reads a command's parameters; what cannot be read is told in one line. */
import { parseArgs, type ParseArgsConfig } from "node:util"
import { Effect } from "effect"
import { CommandRefused } from "./connect.ts"

export const readParameters = <Config extends ParseArgsConfig>(config: Config) =>
  Effect.try({
    try: () => parseArgs(config),
    catch: (cause) => new CommandRefused({ reason: cause instanceof Error ? cause.message : String(cause) })
  })

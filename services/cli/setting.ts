/** What every command's body stands on. */
import { Layer, Logger } from "effect"
import { Environment, lineLogger } from "#runtime"

export const setting = Layer.mergeAll(
  Layer.succeed(Environment, process.env),
  Logger.layer([lineLogger("pretty", (line) => void process.stderr.write(`${line}\n`))])
)

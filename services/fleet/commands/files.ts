/** Files of commands. They are named from where the person stands; the launcher goes to its own folder, and may say whence. */
import { resolve } from "node:path"
import { Effect } from "effect"
import { Environment } from "#runtime"

export const fileOf = (named: string) =>
  Effect.map(Environment, (environment) => resolve(environment["STARLING_CALLED_FROM"] ?? ".", named))

/** What the system said of a file, without the call and the path that it adds. */
export const faultOfFile = (cause: unknown) =>
  cause instanceof Error ? cause.message.replace(/, [a-z]+( '.*)?$/u, "") : String(cause)

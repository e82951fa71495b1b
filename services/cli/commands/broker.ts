/** `broker`: what makes a broker of one machine ready that `up` does not start. */
import { Argument, Command } from "effect/cli"
import { running } from "../running.ts"

const load = () => import("../broker.ts")

const users = Command.make(
  "users",
  {
    folder: Argument.Directory("folder").pipe(
      Argument.withDescription("where the server's file and the passwords are kept")
    )
  },
  ({ folder }) => running(load, ({ writeUsers }) => writeUsers(folder))
).pipe(Command.withDescription("Keeps the users' passwords, and writes the file that a nats-server includes."))

const streams = Command.make("streams", {}, () => running(load, ({ makeStreams }) => makeStreams)).pipe(
  Command.withDescription("Makes the streams, buckets and stores, once the server answers.")
)

export const broker = Command.make("broker").pipe(
  Command.withShortDescription("make a broker of one machine ready that up does not start"),
  Command.withDescription("Makes a broker of one machine ready that up does not start."),
  Command.withSubcommands([users, streams])
)

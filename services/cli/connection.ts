/** How a command reaches the broker of a fleet. */
import { Effect, Layer } from "effect"
import { type BusError, busServices, Nats } from "#bus"
import { Metrics, Role } from "#runtime"
import { operatorUser } from "#fleet/broker-users"
import { brokerLogin } from "./broker-login.ts"
import { CommandRefused } from "./refusals.ts"

export interface BusOptions {
  /** Who the command is to the broker of this home, or of BUS_PASSWORDS_FOLDER; without it, the operator. */
  readonly keptUser?: string
  /** One that comes before its broker; others say at once that there is none. */
  readonly waitsForServer?: boolean
}

export const busOf = (
  named: string | undefined,
  { keptUser = operatorUser, waitsForServer = false }: BusOptions = {}
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url, user, password, credentials, tls } = yield* brokerLogin(named, keptUser)
      const nats = Nats.layerWith({
        servers: url.split(",").map((server) => server.trim()),
        name: "command",
        user,
        password,
        credentials,
        tls,
        waitsForServer
      }).pipe(Layer.catch((error) => Layer.effect(Nats, notLetIn(error, url, user))))
      return busServices.pipe(
        Layer.provideMerge(nats),
        Layer.provideMerge(Metrics.layerTest),
        // No part of a job: what roles send to each other is not for a command.
        Layer.provide(Layer.succeed(Role, "operator"))
      )
    })
  )

/** What the broker says of itself is only that it will not. */
const notLetIn = (
  error: BusError,
  url: string,
  user: string | undefined
): Effect.Effect<never, BusError | CommandRefused> => {
  if (!/Authorization|Authentication/u.test(error.message)) return Effect.fail(error)
  const who = user === undefined ? "anybody without a user" : `${user} with this password`
  const reason = `the broker at ${url} does not let in ${who}; BUS_USER and BUS_PASSWORD say who you are to it`
  return Effect.fail(new CommandRefused({ reason }))
}

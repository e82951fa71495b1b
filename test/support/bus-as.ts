/** The bus as a party of the deployment has it: with its user and no more rights than that one's. */
import { Effect, Layer, Redacted } from "effect"
import { busServices, Nats, type Party, userOf } from "#bus"
import { Health, Metrics, Role } from "#runtime"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { passwordOf } from "./fleet-broker.ts"

export const busAs = (server: () => TestNatsServer, party: Party) =>
  busServices.pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.sync(() =>
          Nats.layerWith({
            servers: [server().url],
            name: party,
            user: userOf(party),
            password: Redacted.make(passwordOf(userOf(party)))
          })
        )
      )
    ),
    Layer.provideMerge(Metrics.layerTest),
    Layer.provideMerge(Health.layer),
    Layer.provide(Layer.succeed(Role, party)),
    // Two parties of one test have a connection each.
    Layer.fresh
  )

/** A subject that fits, of a party's own making. */
export const sample = (pattern: string, token: string) => pattern.replaceAll("*", token).replace(">", token)

/** The bus of a payment's test as somebody sees it who is none of the roles. */
import { randomUUID } from "node:crypto"
import { Layer, Redacted } from "effect"
import { busServices, Nats } from "#bus"
import { Metrics, Role } from "#runtime"
import type { BusAddress } from "./bus-address.ts"

export const busOf = ({ url, user, password }: BusAddress) =>
  Layer.build(
    busServices.pipe(
      Layer.provideMerge(
        Nats.layerWith({
          servers: url.split(","),
          name: `books-${randomUUID()}`,
          user,
          password: password === undefined ? undefined : Redacted.make(password)
        })
      ),
      Layer.provideMerge(Metrics.layerTest),
      // No part of a job: nobody sends it anything.
      Layer.provide(Layer.succeed(Role, "operator"))
    )
  )

/** The bus of a payment's test as somebody sees it who is none of the roles. */
import { randomUUID } from "node:crypto"
import { Layer, Redacted } from "effect"
import { busServices, Nats } from "#bus"
import { Metrics, Role } from "#runtime"

export interface BusAddress {
  /** One or more, with commas between them. */
  readonly url: string
  /** On a broker that knows its users. */
  readonly user?: string
  readonly password?: string
}

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

/** The whole role webhook-dispatcher in this process, on a real broker. */
import { Effect, identity, Layer } from "effect"
import { Consumers } from "#bus"
import { UntrustedHttp } from "#egress"
import { Configuration } from "#configuration"
import { Drain, Environment, Role } from "#runtime"
import { webhookDispatcher } from "../../services/webhook-dispatcher/role.ts"
import { busOn } from "../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

export interface DispatcherOptions {
  readonly endpoints: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly delivery?: Readonly<Record<string, unknown>>
  /** The section `Events`. */
  readonly events?: Readonly<Record<string, unknown>>
  /** The section `Bus`: what the role does about it; the test's own server is used. */
  readonly bus?: Readonly<Record<string, unknown>>
  readonly environment?: Readonly<Record<string, string>>
  /** The consumers as the role sees them, for example one whose answers are held up. */
  readonly consumers?: (real: Consumers["Service"]) => Consumers["Service"]
}

const configuration = ({ endpoints, delivery, events = {}, bus = {} }: DispatcherOptions) =>
  Configuration.layerOf({
    Webhooks: endpoints,
    Events: events,
    Bus: bus,
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], ...delivery }
  })

/** The role and everything below it; the bus stays visible to the test. */
export const dispatcherOn = (server: TestNatsServer, options: DispatcherOptions) =>
  webhookDispatcher.pipe(
    Layer.provideMerge(Drain.layer),
    Layer.provide(UntrustedHttp.layer),
    Layer.provide(Layer.effect(Consumers, Effect.map(Consumers, options.consumers ?? identity))),
    Layer.provideMerge(busOn(server)),
    Layer.provide(configuration(options)),
    Layer.provide(Layer.succeed(Environment, options.environment ?? {})),
    Layer.provide(Layer.succeed(Role, "webhook-dispatcher"))
  )

/** Runs a test while the dispatcher runs. */
export const whileDispatching = <A, E, R>(
  server: TestNatsServer,
  options: DispatcherOptions,
  test: Effect.Effect<A, E, R>
) => test.pipe(Effect.provide(Layer.fresh(dispatcherOn(server, options))))

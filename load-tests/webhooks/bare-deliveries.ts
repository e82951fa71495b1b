/** The stream in which the bare loop stores deliveries: with the settings of the dispatcher's own. */
import type { JetStreamManager } from "@nats-io/jetstream"

export const bareDeliveries = { stream: "BARE_DELIVERIES", subject: "bare.delivery" }

export const makeBareDeliveries = async ({ streams }: JetStreamManager) => {
  const { config } = await streams.info("DELIVERIES")
  await streams.add({ ...config, name: bareDeliveries.stream, subjects: [bareDeliveries.subject] })
}

/** The streams of the bare loop that keeps what it does: with the settings of those that they stand for. */
import type { JetStreamManager } from "@nats-io/jetstream"

export const bareSubjects = { delivery: "bare.delivery", attempt: "bare.attempt" }
export const bareStreams = { deliveries: "BARE_DELIVERIES", attempts: "BARE_ATTEMPTS" }

export const makeBareStreams = async ({ streams }: JetStreamManager) => {
  const like = async (name: string, stream: string, subject: string) => {
    const { config } = await streams.info(stream)
    await streams.add({ ...config, name, subjects: [subject] })
  }
  await like(bareStreams.deliveries, "DELIVERIES", bareSubjects.delivery)
  await like(bareStreams.attempts, "ATTEMPTS", bareSubjects.attempt)
}

export const removeBareStreams = async ({ streams }: JetStreamManager) => {
  for (const name of Object.values(bareStreams)) await streams.delete(name)
}

/** What operators and broken programs do to the broker: streams made too small, leases taken, records that lie. */
import { connect } from "@nats-io/transport-node"
import { jetstream, type StreamConfig } from "@nats-io/jetstream"
import { connectionTo } from "#dev/fixtures/bus-address"
import type { Mend } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"

/** Another limit for a stream, until the mend. */
export const limited = async (
  { manager }: FaultFleet,
  stream: string,
  limit: (now: { readonly bytes: number }) => Partial<StreamConfig>
): Promise<Mend> => {
  const { config, state } = await manager.streams.info(stream)
  await manager.streams.update(stream, { ...config, ...limit({ bytes: state.bytes }) })
  return () => manager.streams.update(stream, config)
}

/** A record as this user writes it. */
export const written = async (fleet: FaultFleet, user: string, subject: string, record: string) => {
  const connection = await connect(connectionTo(fleet.running.busAs(user)))
  await jetstream(connection).publish(subject, record)
  await connection.close()
}

/** A record of a bucket, until the mend. */
export const planted = async (fleet: FaultFleet, user: string, bucket: string, key: string, record: unknown) => {
  const subject = `$KV.${bucket}.${key}`
  await written(fleet, user, subject, JSON.stringify(record))
  return () => fleet.manager.streams.purge(`KV_${bucket}`, { filter: subject })
}

/** A lease that nobody gives back. */
export const leaseTaken = (fleet: FaultFleet, user: string, key: string) =>
  planted(fleet, user, "leases", key, { holder: "nobody" })

/** All that a broker keeps, buckets and object stores included: a text of subject, headers and bytes for each message. */
import { randomUUID } from "node:crypto"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { type BusAddress, connectionTo } from "../../dev/fixtures/bus-address.ts"

export const busContents = async (bus: BusAddress): Promise<ReadonlyArray<readonly [stream: string, text: string]>> => {
  const connection = await connect(connectionTo(bus))
  const manager = await jetstreamManager(connection)
  const found: Array<readonly [string, string]> = []
  for await (const { config, state } of manager.streams.list()) {
    for (let sequence = state.first_seq; state.messages > 0 && sequence <= state.last_seq; sequence++) {
      const message = await manager.streams.getMessage(config.name, { seq: sequence })
      if (message === null) continue
      const headers = [...message.header].map(([name, values]) => `${name}: ${values.join(", ")}`).join("\n")
      const bytes = Buffer.from(message.data).toString("utf8")
      found.push([config.name, `${message.subject}\n${headers}\n${bytes}`])
    }
  }
  await connection.close()
  return found
}

/** Asks on a subject, as an internal service or a runner does. */
export const askOver = async <A>(bus: BusAddress, subject: string, question: unknown): Promise<A> => {
  const connection = await connect(connectionTo(bus))
  const answer = await connection.request(subject, JSON.stringify(question), { timeout: 20_000 })
  await connection.close()
  return answer.json<A>()
}

/** Raw bytes, which may be unreadable. */
export const publishBytesOver = async (bus: BusAddress, subject: string, bytes: string) => {
  const connection = await connect(connectionTo(bus))
  await jetstream(connection).publish(subject, bytes)
  await connection.close()
}

export const publishOver = async (bus: BusAddress, subject: string, value: unknown) => {
  const connection = await connect(connectionTo(bus))
  await jetstream(connection).publish(subject, JSON.stringify(value))
  await connection.close()
}

/** A runner's answer. */
export interface Dispatch {
  readonly dispatchId: string
  readonly dispatchedAtMs: number
  readonly replies: ReadonlyArray<{ readonly questionId: string; readonly text: string | null }>
}

/** As a runner without a sandbox asks for work. */
export const pickUpWork = (bus: BusAddress) =>
  askOver<Dispatch>(bus, "pickup.next.coder", {
    pickupId: randomUUID(),
    runner: "runner-1",
    agent: "coder",
    agentInstanceId: null,
    model: null,
    phases: ["work"],
    sandboxProvider: null,
    sandboxId: null,
    disks: [],
    waitMs: 10_000
  })

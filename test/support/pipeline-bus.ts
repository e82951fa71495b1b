/** The bus as an internal service uses it: publishes reports; and looks at LOG and EVENTS as they are stored. */
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { decodeReport, type ReportKind } from "#pipeline/contract"
import { type BusAddress, connectionTo } from "../../dev/fixtures/bus-address.ts"
import { storedIn } from "./stored.ts"
import type { Json } from "./pipeline-api.ts"

export interface StoredMessage {
  readonly subject: string
  readonly sequence: number
  readonly value: Json
}

export interface PipelineBus {
  /** Fails when the report breaks its schema. */
  readonly report: (kind: ReportKind, fields: Json) => Promise<void>
  /** All of a stream's messages on a subject, in order. */
  readonly read: (stream: string, subject: string) => Promise<ReadonlyArray<StoredMessage>>
  /** The value of the last message on a subject, of a work queue too. */
  readonly last: (stream: string, subject: string) => Promise<Json | undefined>
  readonly close: () => Promise<void>
}

/** Reports as `service`, and looks as `house`, which on a broker with users is another. */
export const openPipelineBus = async (service: BusAddress, house: BusAddress = service): Promise<PipelineBus> => {
  const [told, looking] = await Promise.all([connect(connectionTo(service)), connect(connectionTo(house))])
  const [reporter, manager] = [jetstream(told), await jetstreamManager(looking)]
  const report = async (kind: ReportKind, fields: Json) => {
    const whole = { kind, reportId: crypto.randomUUID(), atMs: Date.now(), ...fields }
    const decoded = decodeReport(kind, whole)
    if (decoded._tag === "Failure") throw new Error(`${kind}: ${JSON.stringify(decoded.failure)}`)
    await reporter.publish(`reports.${kind}`, JSON.stringify(whole), { msgID: whole.reportId })
  }
  const read = async (stream: string, subject: string) =>
    (await storedIn(manager, stream, subject)).map((message) => ({
      subject: message.subject,
      sequence: message.seq,
      value: message.json<Json>()
    }))
  const last = async (stream: string, subject: string) =>
    (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.json<Json>()
  return { report, read, last, close: async () => void (await Promise.all([told.close(), looking.close()])) }
}

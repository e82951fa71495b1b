/** A receiver's requests, each checked at once: its headers, its signature, its schema, and the order of the stream. */
import { readFileSync } from "node:fs"
import { verify } from "@octokit/webhooks-methods"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type { ReceivedRequest, TestReceiver } from "./receiver.ts"
import { until } from "../../dev/fixtures/eventually.ts"

export interface ReceivedEnvelope {
  readonly event: string
  readonly occurredAt: string
  readonly workItem?: { readonly id: string; readonly state: string } | null
  readonly project?: { readonly id: string } | null
  readonly release?: { readonly id: string; readonly state: string }
  readonly details: Readonly<Record<string, unknown>> | null
  /** Its place in EVENTS. */
  readonly sequence: number
}

export interface Deliveries {
  /** Each event once, in the order of EVENTS. */
  readonly all: () => ReadonlyArray<ReceivedEnvelope>
  readonly of: (workItemId: string) => ReadonlyArray<ReceivedEnvelope>
  /** Waits for an event; fails with the events of the same item instead. */
  readonly heard: (
    event: string,
    is?: (envelope: ReceivedEnvelope) => boolean,
    withinMs?: number
  ) => Promise<ReceivedEnvelope>
  /** The faults of the received events; empty when there are none. */
  readonly faults: () => Promise<ReadonlyArray<string>>
}

// Phases of agents lie between, some with retries, and kills in some tests.
const agentsWithinMs = 120_000

const header = ({ headers }: ReceivedRequest, name: string) => String(headers[name] ?? "")

export const readEnvelope = (request: ReceivedRequest): ReceivedEnvelope => ({
  ...(JSON.parse(request.body) as Omit<ReceivedEnvelope, "sequence">),
  sequence: Number(header(request, "x-service-sequence"))
})

export const watchDeliveries = ({ requests }: TestReceiver, path: string): Deliveries => {
  const bySequence = new Map<number, ReceivedEnvelope>()
  let read = 0
  const catchUp = () => {
    for (; read < requests.length; read += 1) {
      const request = requests[read]
      if (request === undefined || request.path !== path) continue
      const envelope = readEnvelope(request)
      bySequence.set(envelope.sequence, envelope)
    }
    return bySequence
  }
  const all = () => [...catchUp().values()].toSorted((left, right) => left.sequence - right.sequence)
  const of = (workItemId: string) => all().filter(({ workItem }) => workItem?.id === workItemId)
  const heard: Deliveries["heard"] = async (event, is = () => true, withinMs = agentsWithinMs) => {
    const find = () => [...catchUp().values()].find((envelope) => envelope.event === event && is(envelope))
    await until(find, { withinMs }).catch((error: unknown) => {
      const lately = all()
        .slice(-15)
        .map((one) => `  ${one.event} ${one.workItem?.id ?? ""} ${JSON.stringify(one.details)}`)
      throw new Error(`${event} was not heard; lately:\n${lately.join("\n")}`, { cause: error })
    })
    const found = find()
    if (found === undefined) throw new Error("it was just there")
    return found
  }
  return { all, of, heard, faults: () => faultsOf(requests.filter((request) => request.path === path)) }
}

export const deliverySecret = "a secret of this test"

const readSchema = (name: string) =>
  JSON.parse(readFileSync(`docs/events/${name}.schema.json`, "utf8")) as Record<string, unknown>

const faultsOf = async (requests: ReadonlyArray<ReceivedRequest>) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat("uuid", /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/u)
  ajv.addSchema(readSchema("shared"))
  const validators = new Map<string, ValidateFunction>()
  const faults: Array<string> = []
  /** The event that each delivery is of: a batch of attempts has one id, and it is no other's. */
  const places = new Map<string, string>()
  for (const request of requests) {
    const event = header(request, "x-service-event")
    const validate = validators.get(event) ?? ajv.compile(readSchema(event))
    validators.set(event, validate)
    const body = JSON.parse(request.body) as { readonly event: string; readonly eventSchemaVersion: string }
    if (!validate(body)) faults.push(`${event}: ${JSON.stringify(validate.errors)} in ${request.body}`)
    if (body.event !== event) faults.push(`${event} in the header, ${body.event} in the body`)
    if (body.eventSchemaVersion !== header(request, "x-service-schema-version")) faults.push(`${event}: two versions`)
    const signature = header(request, "x-service-signature")
    if (!(await verify(deliverySecret, request.body, signature))) faults.push(`${event}: signature ${signature}`)
    if (request.method !== "POST") faults.push(`${event}: by ${request.method}`)
    const type = header(request, "content-type")
    if (type !== "application/json; charset=utf-8") faults.push(`${event}: as ${type}`)
    const delivery = header(request, "x-service-delivery")
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u.test(delivery)) {
      faults.push(`${event}: the delivery ${delivery}`)
    }
    const place = places.get(delivery) ?? header(request, "x-service-sequence")
    places.set(delivery, place)
    if (place !== header(request, "x-service-sequence")) faults.push(`${event}: one delivery of two events`)
  }
  return faults
}

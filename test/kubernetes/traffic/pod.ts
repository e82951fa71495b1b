/**
 * All three jobs of a fleet at once, from a pod of its cluster, with their reconciliation at the end. Begun and ended by
 * HTTP, so that nothing depends on a connection from outside the cluster while nodes and brokers go away.
 *
 * POST /begin with an order, answered when work of every job is under way; POST /end; GET /outcome until there is one
 */
import { createServer, type IncomingMessage } from "node:http"
import { connect } from "@nats-io/transport-node"
import { connectionTo } from "../../../dev/fixtures/bus-address.ts"
import { arrivalsAt } from "../../containers/arrivals.ts"
import { openBooks } from "../../containers/books.ts"
import { underLoad } from "../../containers/chaos.ts"
import type { LoadedFleet } from "../../containers/fleet.ts"
import { worldPorts } from "../../containers/world-places.ts"
import { type Outcome, reader, type TrafficOrder, trafficPort } from "./order.ts"

// Brokers, roles and the load share the processors of one machine.
const patience = 3

const fleetOf = ({ namespace, world, token, busUrl, readerPassword }: TrafficOrder): LoadedFleet => {
  const ownPassword = process.env["BUS_PASSWORD"] ?? ""
  const addressAs = (user: string) => ({
    url: busUrl,
    user,
    password: user === reader ? readerPassword : ownPassword
  })
  return {
    of: (role) => ({ url: `http://${role}.${namespace}` }),
    token,
    patience,
    rpc: `http://${world}:${worldPorts.evm}`,
    arrivals: arrivalsAt(`http://${world}:${worldPorts.hooks}`),
    faults: () => Promise.resolve(""),
    broker: {
      addressAs,
      connectAs: (user) =>
        connect({
          ...connectionTo(addressAs(user)),
          maxReconnectAttempts: -1,
          reconnectTimeWait: 100,
          pingInterval: 1_000
        })
    }
  }
}

interface Running {
  readonly end: () => void
  outcome: Outcome | undefined
}

let running: Running | undefined

const begin = async (order: TrafficOrder) => {
  const fleet = fleetOf(order)
  const books = await openBooks(fleet)
  const ending = Promise.withResolvers<void>()
  const underWay = Promise.withResolvers<void>()
  const current: Running = { end: ending.resolve, outcome: undefined }
  running = current
  const disturbed = () => {
    underWay.resolve()
    return ending.promise
  }
  underLoad(fleet, books, disturbed)
    .then(
      (survived) => (current.outcome = { survived }),
      (error: unknown) => {
        current.outcome = { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
        underWay.reject(error)
      }
    )
    .finally(() => books.close())
    .catch(() => undefined)
  await underWay.promise
}

const orderIn = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString("utf8")) as TrafficOrder
}

const answer = async (request: IncomingMessage): Promise<unknown> => {
  if (request.url === "/begin") return await begin(await orderIn(request))
  if (running === undefined) throw new Error("no traffic was begun")
  if (request.url === "/end") return running.end()
  return running.outcome
}

createServer((request, response) => {
  void answer(request).then(
    (result) => response.end(JSON.stringify(result ?? null)),
    (error: unknown) => response.writeHead(500).end(String(error))
  )
}).listen(trafficPort)

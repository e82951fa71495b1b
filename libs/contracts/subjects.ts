/** Every subject of the bus, built in one place. Ids that may hold anything are encoded as tokens. */
import { addressToken } from "./payments/primitives.ts"
import { encodeToken } from "./tokens.ts"

export const subjects = {
  /** The records of one entity: its state and how it came to it. */
  log: (entity: string, id: string) => `log.${entity}.${encodeToken(id)}`,
  /** How far LOG has become events; written together with them, and itself none. */
  eventsCursor: "events-cursor",
  /** An event's name is made of tokens already. */
  event: (name: string) => `events.${name}`,
  eventsAll: "events.>",
  /** What internal services and runners report; a kind is a token already. */
  report: (kind: string) => `reports.${kind}`,
  reportsAll: "reports.*",
  /** Commands for one entity of that kind, asked of pipeline-api. */
  commands: (entity: string) => `commands.${entity}`,
  commandsAll: "commands.*",
  /** Where runners of an agent kind ask for something to do. */
  pickupNext: (agentKind: string) => `pickup.next.${encodeToken(agentKind)}`,
  pickupNextAll: "pickup.next.*",
  /** Where runners ask whether what they have in hand is still theirs. */
  pickupHeld: "pickup.held",
  rejected: (origin: string) => `rejected.${encodeToken(origin)}`,
  deliveriesDue: (partition: number, endpointId: string) => `deliveries.due.${partition}.${endpointId}`,
  deliveriesDueAll: "deliveries.due.>",
  deliveriesDueIn: (partition: number) => `deliveries.due.${partition}.*`,
  deliveriesDueOf: (endpointId: string) => `deliveries.due.*.${endpointId}`,
  deliveriesWait: (endpointId: string, deliveryId: string) => `deliveries.wait.${endpointId}.${deliveryId}`,
  deliveriesWaitOf: (endpointId: string) => `deliveries.wait.${endpointId}.*`,
  deliveriesCursor: "deliveries.cursor",
  deliveriesRoster: "deliveries.roster",
  attempts: (endpointId: string) => `attempts.${endpointId}`,
  abandoned: (endpointId: string) => `abandoned.${endpointId}`,
  abandonedAll: "abandoned.*",
  paymentsVerify: "payments.verify",
  settlements: (network: string) => `settlements.${encodeToken(network)}`,
  settlementsAll: "settlements.*",
  receipts: (network: string, payer: string) => `receipts.${encodeToken(network)}.${addressToken(network, payer)}`,
  receiptsAll: "receipts.*.*",
  speechSessions: "speech.sessions",
  speechChunks: (engine: string) => `speech.chunks.${engine}`,
  speechChunksAll: "speech.chunks.*",
  /**
   * Everything that a process is sent; what comes after is a session of its own. An instance is called after the job
   * that it has a part in, `speech-…` or `payments-…`: a process without a part in it can neither send there nor listen.
   */
  mailbox: (instance: string) => `${instance.replace("-", ".to.")}.>`,
  mailboxSession: (instance: string, sessionId: string) => `${instance.replace("-", ".to.")}.${sessionId}`
} as const

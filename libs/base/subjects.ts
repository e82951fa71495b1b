/** Every subject of the bus, built in one place. Ids that can hold any text are encoded as tokens. */
import { encodeToken } from "./tokens.ts"

/** In place of a partition, in the subjects of deliveries that wait for others with their key. */
export const orderedPartition = "ordered"

/** The subjects of one lane of deliveries. */
export interface DeliverySubjects {
  readonly due: (partition: number | typeof orderedPartition, endpointId: string) => string
  readonly dueAll: string
  readonly dueIn: (partition: number) => string
  readonly dueOf: (endpointId: string) => string
  readonly wait: (endpointId: string, deliveryId: string) => string
  readonly waitAll: string
  readonly waitOf: (endpointId: string) => string
  readonly cursor: string
  readonly roster: string
  /** Marks a runtime endpoint as known to the fan-out. */
  readonly rosterOf: (endpointId: string) => string
  readonly rosterOfAll: string
}

const deliverySubjects = (lane: number): DeliverySubjects => {
  const root = lane === 0 ? "deliveries" : `deliveries-${lane}`
  return {
    due: (partition, endpointId) => `${root}.due.${partition}.${endpointId}`,
    dueAll: `${root}.due.>`,
    dueIn: (partition) => `${root}.due.${partition}.*`,
    dueOf: (endpointId) => `${root}.due.*.${endpointId}`,
    wait: (endpointId, deliveryId) => `${root}.wait.${endpointId}.${deliveryId}`,
    waitAll: `${root}.wait.>`,
    waitOf: (endpointId) => `${root}.wait.${endpointId}.*`,
    cursor: `${root}.cursor`,
    roster: `${root}.roster`,
    rosterOf: (endpointId) => `${root}.roster.${endpointId}`,
    rosterOfAll: `${root}.roster.*`
  }
}

const made = new Map<number, DeliverySubjects>()

const deliveriesOf = (lane: number) => {
  const known = made.get(lane)
  if (known !== undefined) return known
  const subjectsOfLane = deliverySubjects(lane)
  made.set(lane, subjectsOfLane)
  return subjectsOfLane
}

export const subjects = {
  /** The records of one entity: its state and the facts that led to it. */
  log: (entity: string, id: string) => `log.${entity}.${encodeToken(id)}`,
  /** Where earlier releases kept how much of LOG has become events; not itself an event. */
  eventsCursor: "events-cursor",
  /** The name of an event already consists of tokens. */
  event: (name: string) => `events.${name}`,
  eventsAll: "events.>",
  /** An event from outside the fleet. The broker maps it there: the publisher's own subject is that of `event`. */
  eventFrom: (user: string, name: string) => `events-from.${user}.${name}`,
  eventsFromAll: "events-from.>",
  /** An event to be checked, published and answered for. The broker adds its sender: it arrives on `publishFrom`. */
  publishAll: "publish.>",
  publishFromAll: "publish-from.*.>",
  publishFrom: (user: string) => `publish-from.${user}.>`,
  /** An event of the user's that was refused after it was stored; the user subscribes to `rejected.<user>`. */
  refused: (user: string) => `refused.${user}`,
  refusedAll: "refused.*",
  /** Reports of internal services and runners; a kind is already a token. */
  report: (kind: string) => `reports.${kind}`,
  reportsAll: "reports.*",
  /** Commands for one entity of that kind, requested of pipeline-api. */
  commands: (entity: string) => `commands.${entity}`,
  commandsAll: "commands.*",
  /** Runners of an agent kind request work here. */
  pickupNext: (agentKind: string) => `pickup.next.${encodeToken(agentKind)}`,
  pickupNextAll: "pickup.next.*",
  /** Runners ask here whether their dispatch is still their own. */
  pickupHeld: "pickup.held",
  rejected: (origin: string) => `rejected.${encodeToken(origin)}`,
  /** The subjects of one lane's stream; lane 0 is DELIVERIES itself. */
  deliveries: (lane: number): DeliverySubjects => deliveriesOf(lane),
  /** Deliveries requested by operators: a test, or a resend. */
  deliveriesAsked: "deliveries-asked",
  /** Attempts at an endpoint with one outcome; `*` stands for any of either. */
  attempts: (endpointId: string, outcome: string) => `attempts.${endpointId}.${outcome}`,
  attemptsAll: "attempts.*.*",
  abandoned: (endpointId: string) => `abandoned.${endpointId}`,
  abandonedAll: "abandoned.*",
  rejectedAll: "rejected.*",
  /** Operators' actions, by kind. */
  audit: (action: string) => `audit.${action}`,
  auditAll: "audit.*",
  paymentsVerify: "payments.verify",
  /** Facts and actions of a payment channel that only a settler can access. */
  paymentsChannels: "payments.channels",
  /** Operators' orders about the reconciliation's findings. */
  paymentsBooks: "payments.books",
  /** Operators' orders to refund payments. */
  paymentsRefunds: "payments.refunds",
  /** `facilitator`: the only account that can settle them. Only its holder reads these. */
  settlements: (network: string, facilitator?: string) =>
    `settlements.${encodeToken(facilitator === undefined ? network : `${network}/${facilitator}`)}`,
  settlementsAll: "settlements.*",
  /** `payer` as the chain compares addresses: use `addressToken`. */
  receipts: (network: string, payer: string) => `receipts.${encodeToken(network)}.${payer}`,
  receiptsOf: (network: string) => `receipts.${encodeToken(network)}.*`,
  receiptsAll: "receipts.*.*",
  speechSessions: "speech.sessions",
  speechChunks: (engine: string) => `speech.chunks.${engine}`,
  speechChunksAll: "speech.chunks.*",
  /** Books to be spoken. */
  speechJobs: "speech-jobs",
  /**
   * All messages to a process; the last token names one of its sessions. An instance name begins with a word of its
   * role's, `speech-…` or `verifier-…`: a party without a part in that role's work can neither send there nor listen.
   */
  mailbox: (instance: string) => `${instance.replace("-", ".to.")}.>`,
  mailboxSession: (instance: string, sessionId: string) => `${instance.replace("-", ".to.")}.${sessionId}`
} as const

/** An event's name by its subject in EVENTS, and the user outside the fleet that published it, if any. */
export interface StoredEventName {
  readonly name: string
  readonly from?: string
}

const [ownEvents, foreignEvents] = [subjects.event(""), "events-from."]

const publishing = "publish-from."

/** The name and the sender of an event that arrives to be published; undefined for any other subject. */
export const publishedName = (subject: string): StoredEventName | undefined => {
  if (!subject.startsWith(publishing)) return undefined
  const [from = "", name = ""] = cutAt(subject.slice(publishing.length), ".")
  return { name, from }
}

/** Undefined for a subject of EVENTS that holds no event. */
export const storedEventName = (subject: string): StoredEventName | undefined => {
  if (subject.startsWith(ownEvents)) return { name: subject.slice(ownEvents.length) }
  if (!subject.startsWith(foreignEvents)) return undefined
  const [from = "", name = ""] = cutAt(subject.slice(foreignEvents.length), ".")
  return { name, from }
}

const cutAt = (text: string, mark: string) => {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)]
}

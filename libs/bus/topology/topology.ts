/**
 * The bus as data: every stream, bucket and object store of the fleet. This is the one place to change it;
 * docs/topology.md, the broker's permissions and the Kubernetes resources are all made from it.
 */
import { buckets, objectStores } from "./buckets.ts"
import { type CoreDeclaration, parties, type Party, type Topology } from "./declarations.ts"
import { streams } from "./streams.ts"

export const topology: Topology = { streams, buckets, objectStores }

/**
 * The core subjects, as data: messages between roles that are stored nowhere, either questions with one answer or
 * messages to one process.
 */
export const coreSubjects: ReadonlyArray<CoreDeclaration> = [
  {
    name: "commands",
    kind: "question",
    why: "What an actor is asked to do; answered by what it decided.",
    subjects: ["commands.*"],
    senders: ["sweeper", "internal services", "operator"],
    receivers: ["pipeline-api"]
  },
  {
    name: "pickup",
    kind: "question",
    why: "A runner asks for something to do, and whether what it does is still its to do.",
    subjects: ["pickup.next.*", "pickup.held"],
    senders: ["internal services"],
    receivers: ["pipeline-api"]
  },
  {
    name: "payment verification",
    kind: "question",
    why: "Whether a payment is good, before its call is made.",
    subjects: ["payments.verify"],
    senders: ["model-gateway"],
    receivers: ["payment-verifier"]
  },
  {
    name: "orders about payment channels",
    kind: "question",
    why: "A deposit, a refund or a claim of a payment channel is to be made, the channel to be looked for on the chain, or its receipts to be written.",
    subjects: ["payments.channels"],
    senders: ["model-gateway"],
    receivers: ["payment-settler"]
  },
  {
    name: "orders about the payment books",
    kind: "question",
    why: "An operator has a finding of the reconciliation mended, or says that it is explained.",
    subjects: ["payments.books"],
    senders: ["console"],
    receivers: ["payment-settler"]
  },
  {
    name: "speech sessions",
    kind: "question",
    why: "Who speaks this; nobody there is known in milliseconds.",
    subjects: ["speech.sessions"],
    senders: ["speech-api"],
    receivers: ["speech-sequencer"]
  },
  {
    name: "outcomes of settlements",
    kind: "mailbox",
    why: "What became of a payment, to the process whose caller waits for it; the claim says it too. And whether such a process is there at all, for who lost its answer with it.",
    subjects: ["payments.to.*.>"],
    senders: ["payment-settler", "model-gateway"],
    receivers: ["model-gateway", "payment-verifier"]
  },
  {
    name: "speech frames",
    kind: "mailbox",
    why: "Audio, words, credit and cancels, to the process that serves the session.",
    subjects: ["speech.to.*.>"],
    senders: ["speech-api", "speech-sequencer", "speech-synthesizer"],
    receivers: ["speech-api", "speech-sequencer", "speech-synthesizer"]
  }
]

interface Owned {
  readonly publishers?: ReadonlyArray<Party>
  readonly writers?: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
}

/**
 * The part that `party` writes or reads: it may verify this, and its permissions are made from it. The whole topology
 * for a name that is no party's.
 */
export const partOf = (topology: Topology, party: string): Topology => {
  if (!isParty(party)) return topology
  const touches = ({ publishers = [], writers = [], readers }: Owned) =>
    [...publishers, ...writers, ...readers].includes(party)
  return {
    streams: topology.streams.filter(touches),
    buckets: topology.buckets.filter(touches),
    objectStores: topology.objectStores.filter(touches)
  }
}

/** Whether `party` receives direct messages. True for a name that is no party's. */
export const hasMailbox = (party: string) =>
  !isParty(party) || coreSubjects.some(({ kind, receivers }) => kind === "mailbox" && receivers.includes(party))

/** The job whose messages `party` receives and sends: the first token of their subjects. */
export const mailboxJob = (party: string) => {
  const has = ({ senders, receivers }: CoreDeclaration) => isParty(party) && [...senders, ...receivers].includes(party)
  const subject = coreSubjects.find((core) => core.kind === "mailbox" && has(core))?.subjects[0] ?? "speech"
  return subject.split(".")[0] ?? subject
}

const isParty = (name: string): name is Party => (parties as ReadonlyArray<string>).includes(name)

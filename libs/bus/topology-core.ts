/** What is said between roles and stored nowhere, as data: questions with one answer, and messages to one process. */
import type { CoreDeclaration } from "./declarations.ts"

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

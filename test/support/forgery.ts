/** What a user of the broker tries who wants more than its rights give: every right with every reply, body and header. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { headers, type NatsConnection } from "@nats-io/nats-core"
import { outsiders, type Party, partyUsers, topology, userOf } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { sample } from "./bus-as.ts"

export const streamNames = [
  ...topology.streams.map(({ name }) => name),
  ...topology.buckets.map(({ name }) => `KV_${name}`),
  ...topology.objectStores.map(({ name }) => `OBJ_${name}`)
]

/** An owner's, and the secret that it would admit. */
export const stolen = "stolen"
export const token = { label: stolen, workspace: "default", role: "owner", scopes: [], createdAt: 0 }
export const tokenSubject = `$KV.tokens.${createHash("sha256").update(stolen).digest("hex")}`

/** What a forger would have written: records of every kind, and what the broker does at a word. */
const targets = [
  tokenSubject,
  ...topology.buckets.map(({ name }) => `$KV.${name}.forged`),
  ...topology.objectStores.map(({ name }) => `$O.${name}.M.forged`),
  ...topology.streams.flatMap(({ subjects: own }) => own.map((subject) => sample(subject, "forged"))),
  subjects.event("work_item.merged"),
  ...streamNames.flatMap((name) => [
    `$JS.API.STREAM.DELETE.${name}`,
    `$JS.API.STREAM.PURGE.${name}`,
    `$JS.API.CONSUMER.CREATE.${name}.forged`
  ])
]

/** Every header of the broker's own by which a message says what is to become of it or of others. */
const instructions: ReadonlyArray<Readonly<Record<string, string>>> = [
  { "Nats-Rollup": "all" },
  { "Nats-Rollup": "sub" },
  { "Nats-TTL": "1s" },
  { "Nats-TTL": "never" },
  { "Nats-Marker-Reason": "Purge" },
  { "Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": tokenSubject },
  { "Nats-Schedule": "@every 1s", "Nats-Schedule-Target": "events.work_item.merged", "Nats-Schedule-TTL": "1s" },
  {
    "Nats-Schedule": "@at 2020-01-01T00:00:00Z",
    "Nats-Schedule-Target": "events.work_item.merged",
    "Nats-Schedule-Rollup": "all"
  },
  { "Nats-Incr": "+1" },
  { "Nats-Counter-Sources": "{}" },
  { "Nats-Expected-Stream": "LOG" },
  { "Nats-Expected-Last-Sequence": "0" },
  { "Nats-Expected-Last-Subject-Sequence": "0", "Nats-Expected-Last-Subject-Sequence-Subject": "log.>" },
  { "Nats-Msg-Id": "log.1.0" },
  { "Nats-Stream-Source": "LOG 1 > >" },
  { "Nats-Stream": "KV_tokens", "Nats-Sequence": "1", "Nats-Subject": tokenSubject },
  { "Nats-Request-Info": '{"acc":"FLEET","user":"console"}' },
  { "Nats-Trace-Dest": tokenSubject },
  { "Nats-Batch-Id": "forged", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1" },
  { "Nats-Required-Api-Level": "99" },
  { "KV-Operation": "PURGE" }
]

/** Bodies that make each part of the broker's interface answer. */
const bodiesOf = (subject: string): ReadonlyArray<string> => {
  if (subject.startsWith("$JS.API.DIRECT.GET."))
    return [
      '{"seq":1}',
      '{"last_by_subj":"events.>"}',
      '{"seq":1,"batch":8,"next_by_subj":">"}',
      '{"multi_last":[">"],"batch":8}',
      ""
    ]
  if (subject.startsWith("$JS.API.STREAM.MSG.GET.")) return ['{"seq":1}', '{"last_by_subj":"events.>"}']
  if (subject.startsWith("$JS.ACK.")) return ackBodies
  if (subject.startsWith("$JS."))
    return ["", "{}", '{"batch":8,"expires":1000000000}', `{"deliver_subject":"${tokenSubject}"}`]
  return [JSON.stringify(token), "", JSON.stringify(exampleEnvelope("work_item.merged"))]
}

/** All that a reader may say about a message that it got; some of them ask for the next ones. */
const ackBodies = ["", "+ACK", "-NAK", '-NAK {"delay":1000000}', "+WPI", "+TERM", "+NXT", '+NXT {"batch":2}']

const tries = (party: Party) => rightsOf(party).map((pattern) => sample(pattern, "sandbox.leak_detected"))

/** All of them for who has few rights; for each other trial some, in turn, and always the one that would give most. */
const repliesFor = (party: Party, turn: number) => {
  if (outsiders.includes(party)) return targets
  return [
    tokenSubject,
    ...Array.from({ length: repliesAtOnce }, (_, at) => targets[(turn * repliesAtOnce + at) % targets.length] ?? "")
  ]
}
const repliesAtOnce = 8

export const rightsOf = (party: Party) => {
  const user = partyUsers(topology).find((each) => each.user === userOf(party))
  assert.isDefined(user)
  return user.permissions.publish.allow
}

export const withHeaders = (pairs: Readonly<Record<string, string>>) => {
  const made = headers()
  for (const [name, value] of Object.entries(pairs)) made.set(name, value)
  return made
}

/** Asks for each answer that a party can have, and has it sent wherever it wants. */
export const sendAnswersElsewhere = async (connection: NatsConnection, party: Party) => {
  let turn = 0
  for (const subject of tries(party)) {
    for (const body of bodiesOf(subject)) {
      for (const reply of repliesFor(party, turn)) connection.publish(subject, body, { reply })
      turn += 1
      await connection.flush()
    }
  }
}

/** Publishes what a party may, with every header by which the broker can be told to do more. */
export const sendInstructions = async (connection: NatsConnection, party: Party) => {
  for (const subject of tries(party).filter((each) => !each.startsWith("$JS."))) {
    for (const instruction of instructions) {
      connection.publish(subject, JSON.stringify(token), { headers: withHeaders(instruction), reply: tokenSubject })
    }
  }
  await connection.flush()
}

/**
 * Takes some messages of a consumer, and says everything about them, and asks for more, with the answers sent wherever it
 * wants. Returns where the messages are acknowledged.
 */
export const sendMessagesElsewhere = async (connection: NatsConnection, stream: string, durable: string) => {
  const next = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`
  const inbox = `_INBOX_${durable}.taken`
  const messages = connection.subscribe(inbox, { max: takenCount })
  connection.publish(next, JSON.stringify({ batch: takenCount, expires: 2_000_000_000 }), { reply: inbox })
  const taken: Array<string> = []
  for await (const { reply = "" } of messages) taken.push(reply)
  const pull = JSON.stringify({ batch: 2, expires: 1_000_000_000 })
  for (const [turn, reply] of targets.entries()) {
    connection.publish(next, pull, { reply })
    connection.publish(taken[turn % taken.length] ?? "", ackBodies[turn % ackBodies.length], { reply })
    connection.publish(taken[turn % taken.length] ?? "", '+NXT {"batch":2}', { reply })
  }
  await connection.flush()
  return taken
}
const takenCount = 8

/**
 * Core messages straight to a process: audio, credit, cancel. A process subscribes once, at its start, and tells its
 * sessions apart by the token after its own name: a subscription per session would lose the first frames in a cluster.
 * Nothing is stored and nothing is confirmed; the sender must bound its unconfirmed messages.
 */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, type Scope } from "effect"
import { subjects } from "#contracts"
import { acquireLightly, Role } from "#runtime"
import { toHeaders } from "./message.ts"
import { Nats } from "./connection/connection.ts"
import { LocalTransport } from "./local-transport.ts"
import { nobodyThere } from "./connection/calls.ts"
import { hasMailbox, mailboxJob } from "./topology/topology.ts"

export class Mailbox extends Context.Service<
  Mailbox,
  {
    /** This process's name in subjects. */
    readonly instance: string
    /** Receives the messages of a session until the scope closes. The receiver owns the bytes. */
    readonly open: (sessionId: string, receive: (bytes: Uint8Array) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Receives the messages of sessions that are not open; there is no other way to tell the sender. */
    readonly onUnknown: (receive: (sessionId: string, bytes: Uint8Array) => void) => Effect.Effect<void>
    /** False for an instance that is known to be gone: nobody listens to its messages any more. */
    readonly isThere: (instance: string) => Effect.Effect<boolean>
    /** Sends without waiting. All messages of one turn of the event loop leave in one write. */
    readonly send: (instance: string, sessionId: string, bytes: Uint8Array) => void
  }
>()("starling/bus/Mailbox") {
  static readonly layer = Layer.effect(
    Mailbox,
    Effect.gen(function* () {
      const nats = yield* Nats
      const { mailboxes } = yield* LocalTransport
      const role = yield* Role
      const instance = `${mailboxJob(role)}-${randomBytes(12).toString("base64url")}`
      const open = new Map<string, (bytes: Uint8Array) => void>()
      let unknown: (sessionId: string, bytes: Uint8Array) => void = () => {}
      const deliver = (sessionId: string, bytes: Uint8Array) => {
        const receive = open.get(sessionId)
        if (receive === undefined) unknown(sessionId, bytes)
        else receive(bytes)
      }
      const nearby = Effect.acquireRelease(
        Effect.sync(() => mailboxes.enter(instance, deliver)),
        (leave) => Effect.sync(leave)
      )
      const listening = Effect.acquireRelease(
        Effect.sync(() =>
          nats.connection.subscribe(subjects.mailbox(instance), {
            callback: (error, message) => {
              if (error !== null) return
              deliver(message.subject.slice(message.subject.lastIndexOf(".") + 1), message.data)
            }
          })
        ),
        (subscription) => Effect.sync(() => subscription.unsubscribe())
      )
      // A role without a mailbox may have no permission to subscribe either.
      if (hasMailbox(role)) yield* Effect.andThen(listening, nearby)
      return Mailbox.of({
        instance,
        open: (sessionId, receive) =>
          acquireLightly(
            Effect.sync(() => void open.set(sessionId, receive)),
            () => Effect.sync(() => open.delete(sessionId))
          ),
        isThere: (name) => (mailboxes.find(name) === undefined ? isListening(nats, name) : Effect.succeed(true)),
        onUnknown: (receive) => Effect.sync(() => void (unknown = receive)),
        send: (to, sessionId, bytes) =>
          nats.sends.add(() => {
            const receive = mailboxes.find(to)
            // A copy, because the sender may reuse its bytes.
            if (receive !== undefined) return receive(sessionId, bytes.slice())
            // A closed connection gets no error; the receiver's peer notices the silence.
            if (!nats.connection.isClosed()) nats.connection.publish(subjects.mailboxSession(to, sessionId), bytes)
          })
      })
    })
  )
}

// The broker says at once when nobody listens; a listener does not answer.
const silenceMs = 300
const nothing = new Uint8Array(0)

const isListening = (nats: Nats["Service"], instance: string) => {
  const operation = `look for ${instance}`
  const asked = { subject: subjects.mailboxSession(instance, "there"), data: nothing, headers: toHeaders([]) }
  return nats.ask(operation, asked, silenceMs).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(error._tag !== "BusUnavailable" || error.detail !== nobodyThere))
  )
}

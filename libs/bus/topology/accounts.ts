/**
 * The broker's accounts. FLEET has the streams and every role. Each party from outside the fleet has an account of its
 * own without JetStream, which imports its rights one by one. Across an import the server maps a client's reply, so
 * nothing that such a client names reaches a subject of FLEET. Pure.
 */
import { subjects } from "#contracts"
import { outsiders, storedPrefix } from "./declarations.ts"
import { type BrokerUser, userOf } from "./permissions.ts"

export const fleetAccount = "FLEET"

interface ServiceExport {
  readonly service: string
  /** For an answer of several messages. */
  readonly response_type?: "Stream"
  readonly accounts: ReadonlyArray<string>
}
interface StreamExport {
  readonly stream: string
  readonly accounts: ReadonlyArray<string>
}
interface From {
  readonly account: string
  readonly subject: string
}
type Import = { readonly service: From; readonly to?: string } | { readonly stream: From }

/** An account in a nats-server's configuration. */
export interface BrokerAccount<User> {
  readonly jetstream?: "enabled"
  readonly users: ReadonlyArray<User>
  readonly exports?: ReadonlyArray<ServiceExport | StreamExport>
  readonly imports?: ReadonlyArray<Import>
}

export const brokerAccounts = <User extends BrokerUser>(
  users: ReadonlyArray<User>
): Readonly<Record<string, BrokerAccount<User>>> => {
  const outside = users.filter(({ user }) => isOutside(user))
  const rights = outside.map((user) => ({ user, account: accountOf(user.user), imports: importsOf(user) }))
  return {
    [fleetAccount]: {
      jetstream: "enabled",
      users: users.filter(({ user }) => !isOutside(user)),
      exports: exportsFor(rights)
    },
    ...Object.fromEntries(rights.map(({ user, account, imports }) => [account, { users: [user], imports }]))
  }
}

const outsideUsers = new Set(outsiders.map(userOf))
const isOutside = (user: string) => outsideUsers.has(user)

export const accountOf = (user: string) => (isOutside(user) ? user.toUpperCase().replaceAll("-", "_") : fleetAccount)

const importsOf = ({ user, permissions }: BrokerUser): ReadonlyArray<Import> => [
  ...permissions.publish.allow.map((subject): Import => {
    const from = { account: fleetAccount, subject: storedSubject(user, subject) }
    return from.subject === subject ? { service: from } : { service: from, to: subject }
  }),
  ...permissions.subscribe.allow
    .filter((subject) => subject.startsWith(storedPrefix))
    .map((subject): Import => ({ stream: { account: fleetAccount, subject } }))
]

/** Where FLEET takes what a user publishes: an event lies in EVENTS under the name of who published it. */
const storedSubject = (user: string, subject: string) =>
  subject.startsWith(subjects.event("")) ? subjects.eventFrom(user, subject.slice(subjects.event("").length)) : subject

interface Rights {
  readonly account: string
  readonly imports: ReadonlyArray<Import>
}

/** What the accounts import, and to them alone. */
const exportsFor = (rights: ReadonlyArray<Rights>) => {
  const importers = new Map<string, { readonly kind: "service" | "stream"; readonly accounts: Array<string> }>()
  for (const { account, imports } of rights) {
    for (const each of imports) {
      const kind = "service" in each ? "service" : "stream"
      const { subject } = "service" in each ? each.service : each.stream
      const found = importers.get(subject) ?? { kind, accounts: [] }
      found.accounts.push(account)
      importers.set(subject, found)
    }
  }
  return Array.from(importers, ([subject, { kind, accounts }]) => {
    if (kind === "stream") return { stream: subject, accounts }
    return answersInPieces(subject)
      ? { service: subject, response_type: "Stream" as const, accounts }
      : { service: subject, accounts }
  })
}

/** A batch of stored messages comes as one message each. */
const answersInPieces = (subject: string) => subject.startsWith("$JS.API.DIRECT.GET.") && !subject.endsWith(".>")

/**
 * The broker's accounts. FLEET has the streams and the parties that create consumers. Every other party has an account
 * of its own without JetStream, which imports its rights one by one from the account that owns the subject: across an
 * import the server maps a client's reply, so nothing that such a client names is a subject of another account. Pure.
 */
import { subjects } from "#base"
import { besideStreams, outsiders, parties, storedPrefix, userOf } from "./declarations.ts"
import type { BrokerUser } from "./permissions.ts"
import { coreSubjects } from "./topology.ts"

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
type Import = { readonly service: From; readonly to?: string } | { readonly stream: From; readonly to?: string }

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
  const names = [...new Set([fleetAccount, ...users.map(({ user }) => accountOf(user))])]
  const accounts = names.map((name) => {
    const own = users.filter(({ user }) => accountOf(user) === name)
    return { name, own, imports: distinct(own.flatMap(importsOf)) }
  })
  return Object.fromEntries(
    accounts.map(({ name, own, imports }) => {
      const exports = exportsOf(name, accounts)
      return [
        name,
        {
          ...(name === fleetAccount ? { jetstream: "enabled" as const } : {}),
          users: own,
          ...(exports.length === 0 ? {} : { exports }),
          ...(imports.length === 0 ? {} : { imports })
        }
      ]
    })
  )
}

const apart = new Set(parties.filter((party) => !besideStreams.includes(party)).map(userOf))
const outsideUsers = new Set(outsiders.map(userOf))

/** A user that belongs to no party keeps the streams. */
export const accountOf = (user: string) => (apart.has(user) ? user.toUpperCase().replaceAll("-", "_") : fleetAccount)

/** A user's publishes and subscriptions that belong to another account. */
const importsOf = ({ user, permissions }: BrokerUser): ReadonlyArray<Import> => {
  const own = accountOf(user)
  const services = permissions.publish.allow.flatMap((to): ReadonlyArray<Import> => {
    const from = { account: holderOf(to), subject: arrivalOf(user, to) }
    if (from.account === own) return []
    return [from.subject === to ? { service: from } : { service: from, to }]
  })
  if (own === fleetAccount) return services
  const { allow } = permissions.subscribe
  const announced = allow.filter((subject) => subject.startsWith(storedPrefix))
  const noticed = allow.filter((subject) => subject === subjects.rejected(user))
  return [
    ...services,
    ...announced.map((subject) => ({ stream: { account: fleetAccount, subject } })),
    ...noticed.map((to) => ({ stream: { account: fleetAccount, subject: subjects.refused(user) }, to }))
  ]
}

const receivers = new Map(
  coreSubjects.flatMap(({ kind, subjects: own, receivers: [receiver] }) =>
    // A notice leaves from the account of the streams, where its receivers import it from.
    receiver === undefined || kind === "notice"
      ? []
      : own.map((subject) => [subject, accountOf(userOf(receiver))] as const)
  )
)

/**
 * The account that receives a subject: for a core subject its receivers' account; everything else is stored or the
 * broker's.
 */
const holderOf = (subject: string) => receivers.get(subject) ?? fleetAccount

/** Where a user's publishes arrive: an event from outside the fleet under its publisher's name. */
const arrivalOf = (user: string, subject: string) => {
  if (!outsideUsers.has(user)) return subject
  if (subject === subjects.publishAll) return subjects.publishFrom(user)
  return subject.startsWith(subjects.event(""))
    ? subjects.eventFrom(user, subject.slice(subjects.event("").length))
    : subject
}

interface Importing {
  readonly name: string
  readonly imports: ReadonlyArray<Import>
}

/** What other accounts import from this one, exported to them alone. */
const exportsOf = (account: string, accounts: ReadonlyArray<Importing>) => {
  const importers = new Map<string, { readonly kind: "service" | "stream"; readonly names: Array<string> }>()
  for (const { name, imports } of accounts) {
    for (const each of imports) {
      const [kind, from] = "service" in each ? (["service", each.service] as const) : (["stream", each.stream] as const)
      if (from.account !== account) continue
      const found = importers.get(from.subject) ?? { kind, names: [] }
      found.names.push(name)
      importers.set(from.subject, found)
    }
  }
  return Array.from(importers, ([subject, { kind, names }]): ServiceExport | StreamExport => {
    if (kind === "stream") return { stream: subject, accounts: names }
    return answersInPieces(subject)
      ? { service: subject, response_type: "Stream", accounts: names }
      : { service: subject, accounts: names }
  })
}

/** A page of stored messages, and the next messages of a consumer, arrive as one message each. */
const answersInPieces = (subject: string) =>
  subject.startsWith("$JS.API.CONSUMER.MSG.NEXT.") ||
  (subject.startsWith("$JS.API.DIRECT.GET.") && !subject.endsWith(".>"))

/** Two users of an account can need the same. */
const distinct = (imports: ReadonlyArray<Import>) => [
  ...new Map(imports.map((each) => [JSON.stringify(each), each])).values()
]

/**
 * Who may connect to the broker of one machine: the users that Kubernetes has, with the same rights, and who makes the
 * streams. Only the operator may do more: try receivers with events that elsewhere only an actor tells. Pure.
 */
import { type BrokerUser, brokerUser, inboxPrefix, partyUsers, topology, userOf } from "#bus"

export const operatorUser = userOf("operator")
export const serviceUser = userOf("internal services")
/** Makes the streams, and copies them. */
export const keeperUser = "stream-keeper"

const keeper = brokerUser(keeperUser, {
  // Copies of streams, and their return, go in pieces, of which each is confirmed.
  publish: ["$JS.API.>", "$JS.SNAPSHOT.>"],
  publishNever: [],
  // Tools that keep streams know the common inbox, in which nobody else is answered.
  subscribe: [`${inboxPrefix(keeperUser)}.>`, "_INBOX.>"],
  answers: false
})

const tryingEvents = ({ user, permissions }: BrokerUser): BrokerUser => {
  const { publish, ...others } = permissions
  return { user, permissions: { publish: { ...publish, allow: [...publish.allow, "events.>"] }, ...others } }
}

export const machineUsers: ReadonlyArray<BrokerUser> = [
  ...partyUsers(topology).map((each) => (each.user === operatorUser ? tryingEvents(each) : each)),
  keeper
]

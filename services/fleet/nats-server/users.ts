/**
 * Who may connect to the broker of one machine: the users that Kubernetes has, with the same rights, and who makes the
 * streams. Only the operator may do more: try receivers with events that elsewhere only an actor tells. Pure.
 */
import { type BrokerUser, brokerUser, inboxPrefix, partyUsers, topology, userOf } from "#bus"

export const operatorUser = userOf("operator")
export const serviceUser = userOf("internal services")
export const keeperUser = "stream-keeper"

const keeper = brokerUser(keeperUser, {
  publish: ["$JS.API.>"],
  publishNever: [],
  subscribe: [`${inboxPrefix(keeperUser)}.>`],
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

/** What is wrong with the fleet now, where it is mended, and which runbook says how. Pure. */
import type { Answer } from "../../api/client.ts"
import { countOf } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"

type Frame = Answer<"GET", "/fleet">

export interface Condition {
  readonly title: string
  readonly advice: string
  readonly href: string
  readonly tone: "bad" | "wait"
  /** None where it is not known. */
  readonly since?: string
  /** Another condition, before it, causes it. */
  readonly isEffect?: boolean
  /** What the processes that see it say. */
  readonly reasons?: ReadonlyArray<string>
  readonly commands?: ReadonlyArray<string>
  /** None where there is nothing to do. */
  readonly runbook?: Standing["runbook"]
}

type FrameSeen = Pick<Frame, "conditions" | "processesLeftOut">
type Standing = Frame["conditions"]["items"][number]

export const conditionsOf = (frame: FrameSeen): ReadonlyArray<Condition> => [
  ...frame.conditions.items.map(standingCondition),
  ...(frame.conditions.count === frame.conditions.items.length
    ? []
    : [more(`${countOf(frame.conditions.count - frame.conditions.items.length, "more condition")}`)]),
  ...(frame.processesLeftOut === 0 ? [] : [more(countOf(frame.processesLeftOut, "process", "processes"))])
]

const more = (what: string): Condition => ({
  title: `${what} not shown`,
  advice: "For so many, use a monitoring system.",
  href: "#/fleet",
  tone: "wait"
})

const standingCondition = ({
  name,
  severity,
  title,
  hurts,
  since,
  labels,
  causedBy,
  reasons,
  commands,
  runbook
}: Standing): Condition => ({
  title,
  advice: hurts,
  href: placeOf(name, labels),
  tone: severity === "critical" ? "bad" : "wait",
  since,
  isEffect: causedBy !== null,
  reasons,
  commands,
  runbook
})

/** What is mended in a list of what the fleet keeps. */
const places: Readonly<Record<string, string>> = {
  WebhookDeliveriesAbandoned: "#/deliveries/abandoned",
  StarlingMessagesRejected: "#/deliveries/rejected",
  StarlingStreamFilling: "#/fleet/streams",
  StarlingStreamLost: "#/fleet/streams",
  StarlingStreamCopiesBehind: "#/fleet/streams"
}

/** Where the thing has a page of its own. */
const placeOf = (name: string, { endpoint, provider, model, network }: Standing["labels"]) => {
  const kept = places[name]
  if (kept !== undefined) return kept
  if (endpoint !== undefined) return `#${endpointAddress(endpoint)}`
  if (provider !== undefined || model !== undefined) return "#/models"
  return network === undefined ? "#/fleet" : "#/activity/books"
}

/** What is wrong with the fleet now, where it is mended, and which runbook says how. Pure. */
import type { Answer } from "../../api/client.ts"
import { countOf } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"

type Frame = Answer<"GET", "/fleet">

/** Headings of docs/runbooks.md. */
export const runbooks = {
  providerFails: "GatewayProviderFailing",
  abandoned: "WebhookDeliveriesAbandoned",
  rejected: "StarlingMessagesRejected",
  streamFull: "StarlingStreamFilling"
} as const

export interface Condition {
  readonly title: string
  readonly advice: string
  readonly href: string
  readonly tone: "bad" | "wait"
  /** None where it is not known. */
  readonly since?: string
  /** Another condition, before it, causes it. */
  readonly isEffect?: boolean
  readonly commands?: ReadonlyArray<string>
  /** The heading of its runbook; none where there is nothing to do. */
  readonly runbook?: string
}

type FrameSeen = Pick<Frame, "roles" | "conditions" | "processesLeftOut">
type Standing = Frame["conditions"]["items"][number]

export const conditionsOf = (frame: FrameSeen): ReadonlyArray<Condition> => [
  ...frame.conditions.items.map(standingCondition),
  ...rolesAway(frame),
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
  commands
}: Standing): Condition => ({
  title,
  advice: hurts,
  href: placeOf(labels),
  tone: severity === "critical" ? "bad" : "wait",
  since,
  isEffect: causedBy !== null,
  commands,
  runbook: name
})

/** Where the thing has a page of its own. */
const placeOf = ({ endpoint, provider, model, network }: Standing["labels"]) => {
  if (endpoint !== undefined) return `#${endpointAddress(endpoint)}`
  if (provider !== undefined || model !== undefined) return "#/models"
  return network === undefined ? "#/fleet" : "#/activity/books"
}

/** Roles that say themselves that they are not ready, where no condition speaks of their process. */
const rolesAway = ({ roles, conditions: { items } }: FrameSeen) =>
  roles
    .filter(({ state, at }) => state !== "up" && !items.some(({ labels }) => at.endsWith(`//${labels["pod"]}`)))
    .map(({ role, state, why }): Condition => ({
      title: `${role} is ${state}`,
      advice: why === "" ? "Its process does not answer. Check its log." : why,
      href: "#/fleet",
      tone: "wait"
    }))

/** The providers of models that are left alone now: a frame names them as `provider p for m`. */
export const providersAway = ({ breakersOpen }: Pick<Frame, "breakersOpen">): ReadonlyArray<Condition> =>
  breakersOpen
    .filter((name) => name.startsWith("provider "))
    .map((name) => ({
      title: `${name} keeps failing: its circuit is open`,
      advice: "It is retried automatically; other providers, if any, serve in the meantime.",
      href: "#/models",
      tone: "bad",
      runbook: runbooks.providerFails
    }))

/** What the fleet keeps, as far as its first pages go. */
export interface Kept {
  readonly abandoned: ReadonlyArray<Pick<Answer<"GET", "/abandoned">["items"][number], "endpoint">>
  readonly rejected: ReadonlyArray<unknown>
  readonly streams: ReadonlyArray<Pick<Answer<"GET", "/streams">["items"][number], "name" | "atLimit" | "state">>
}

/** From here on the alert of a full stream fires. */
const fullShare = 0.8

/** What lies there until somebody does something about it. */
export const keptConditionsOf = ({ abandoned, rejected, streams }: Kept): ReadonlyArray<Condition> => [
  ...[...Map.groupBy(abandoned, ({ endpoint }) => endpoint)].map(([endpoint, all]): Condition => ({
    title: `${countOf(all.length, "delivery", "deliveries")} to ${endpoint} given up`,
    advice: "The last attempts failed. Fix the receiver, then redeliver.",
    href: `#/deliveries/abandoned?${new URLSearchParams({ endpoint })}`,
    tone: "wait",
    runbook: runbooks.abandoned
  })),
  ...(rejected.length === 0
    ? []
    : [
        {
          title: `${countOf(rejected.length, "message")} broke the schema`,
          advice: "Their sender writes messages that break the schema.",
          href: "#/deliveries/rejected",
          tone: "wait" as const,
          runbook: runbooks.rejected
        }
      ]),
  ...streams
    .filter(({ atLimit, state }) => atLimit === "refuses" && isFilling(state))
    .map(({ name }): Condition => ({
      title: `${name} is nearly full`,
      advice: "At its limit it rejects messages.",
      href: "#/fleet/streams",
      tone: "bad",
      runbook: runbooks.streamFull
    }))
]

const isFilling = (state: Kept["streams"][number]["state"]) =>
  state !== null && state.bytesMax !== null && state.bytes >= fullShare * state.bytesMax

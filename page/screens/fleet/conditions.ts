/** What is wrong with the fleet now, where it is mended, and which runbook says how. Pure. */
import type { Answer } from "../../api/client.ts"
import { countOf } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"

type Frame = Answer<"GET", "/fleet">

/** Headings of docs/runbooks.md. */
export const runbooks = {
  down: "StarlingPodDown",
  brokerAway: "StarlingBusDisconnected",
  topology: "StarlingTopologyDiffers",
  late: "StarlingEventLoopLate",
  endpointFails: "WebhookCircuitOpen",
  endpointPaused: "WebhookEndpointPaused",
  providerFails: "GatewayBreakerOpen",
  nodesFail: "PaymentChainNodeOut",
  abandoned: "WebhookDeliveriesAbandoned",
  rejected: "StarlingMessagesRejected",
  streamFull: "StarlingStreamFilling",
  booksUnread: "PaymentBooksUnread",
  booksDiffer: "PaymentBooksDiffer"
} as const

export interface Condition {
  readonly title: string
  readonly advice: string
  readonly href: string
  readonly tone: "bad" | "wait"
  /** The heading of its runbook; none where there is nothing to do. */
  readonly runbook?: string
}

type FrameSeen = Pick<Frame, "roles" | "breakersOpen" | "endpoints" | "processesLeftOut">

/** A loop that lags more than this makes everything late that the process does. */
const loopLagMsMax = 250

export const conditionsOf = (frame: FrameSeen): ReadonlyArray<Condition> => [
  ...rolesAway(frame),
  ...frame.breakersOpen.map(circuitOpen),
  ...frame.endpoints
    .filter(({ breaker }) => breaker === "paused")
    .map(({ endpoint, backlog }): Condition => ({
      title: `${endpoint} is paused, with ${countOf(backlog, "delivery", "deliveries")} waiting`,
      advice: "An operator paused it. It misses nothing and continues when someone resumes it.",
      href: `#${endpointAddress(endpoint)}`,
      tone: "wait",
      runbook: runbooks.endpointPaused
    })),
  ...[...new Set(frame.roles.filter(({ loopLagMs }) => (loopLagMs ?? 0) > loopLagMsMax).map(({ at }) => at))].map(
    (at): Condition => ({
      title: `The process at ${at} is overloaded`,
      advice: "Its event loop is blocked for too long. Give it more CPU or run another instance.",
      href: "#/fleet",
      tone: "wait",
      runbook: runbooks.late
    })
  ),
  ...(frame.processesLeftOut === 0
    ? []
    : [
        {
          title: `${countOf(frame.processesLeftOut, "process", "processes")} not shown`,
          advice: "For more than 64, use a monitoring system.",
          href: "#/fleet",
          tone: "wait" as const
        }
      ])
]

const rolesAway = ({ roles }: FrameSeen) =>
  roles
    .filter(({ state }) => state !== "up")
    .map(({ role, state, why }): Condition => ({
      title: `${role} is ${state}`,
      advice: why === "" ? "Its process does not answer. Check its log." : why,
      href: "#/fleet",
      tone: state === "down" ? "bad" : "wait",
      runbook: runbookOfReadiness(why)
    }))

/** A role says which of its checks fails, as the checks are named. */
const runbookOfReadiness = (why: string) => {
  if (why.startsWith("topology")) return runbooks.topology
  return /^(?:bus|broker|no broker)/u.test(why) ? runbooks.brokerAway : runbooks.down
}

/** A frame names what is left alone by its kind: an endpoint, a provider for a model, the nodes of a chain. */
const circuitOpen = (name: string): Condition => {
  const title = `${name} keeps failing: its circuit is open`
  const [, endpoint] = /^endpoint (.+)$/su.exec(name) ?? []
  if (endpoint !== undefined) {
    const advice = "Fix the receiver. It is retried automatically, or at once when you resume it."
    return { title, advice, href: `#${endpointAddress(endpoint)}`, tone: "bad", runbook: runbooks.endpointFails }
  }
  return {
    title,
    advice: "It is retried automatically; other providers, if any, serve in the meantime.",
    href: isProvider(name) ? "#/models" : "#/activity/books",
    tone: "bad",
    runbook: isProvider(name) ? runbooks.providerFails : runbooks.nodesFail
  }
}

const isProvider = (name: string) => name.startsWith("provider ")

/** The providers of models that are left alone now. */
export const providersAway = ({ breakersOpen }: Pick<Frame, "breakersOpen">): ReadonlyArray<Condition> =>
  breakersOpen.filter(isProvider).map(circuitOpen)

/** What the fleet keeps, as far as its first pages go. */
export interface Kept {
  readonly abandoned: ReadonlyArray<Pick<Answer<"GET", "/abandoned">["items"][number], "endpoint">>
  readonly rejected: ReadonlyArray<unknown>
  readonly streams: ReadonlyArray<Pick<Answer<"GET", "/streams">["items"][number], "name" | "atLimit" | "state">>
  readonly books: ReadonlyArray<Pick<Answer<"GET", "/books">["books"][number], "network" | "isBehind" | "standing">>
}

/** From here on the alert of a full stream fires. */
const fullShare = 0.8

/** What lies there until somebody does something about it. */
export const keptConditionsOf = ({ abandoned, rejected, streams, books }: Kept): ReadonlyArray<Condition> => [
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
    })),
  ...books.flatMap(({ network, isBehind, standing }): ReadonlyArray<Condition> => [
    ...(isBehind ? [ofBooks(`${network} was not compared with its receipts`, runbooks.booksUnread)] : []),
    ...(standing > 0
      ? [ofBooks(`${countOf(standing, "finding")} in the books of ${network}`, runbooks.booksDiffer)]
      : [])
  ])
]

const isFilling = (state: Kept["streams"][number]["state"]) =>
  state !== null && state.bytesMax !== null && state.bytes >= fullShare * state.bytesMax

const ofBooks = (title: string, runbook: string): Condition => ({
  title,
  advice: "Review each finding: it says what it means.",
  href: "#/activity/books",
  tone: "bad",
  runbook
})

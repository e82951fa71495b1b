/** What is wrong with the fleet now, and where it is mended. Pure. */
import type { Answer } from "../../api/client.ts"
import { countOf } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"

type Frame = Answer<"GET", "/fleet">

export interface Condition {
  readonly title: string
  readonly advice: string
  readonly href: string
  readonly tone: "bad" | "wait"
}

type FrameSeen = Pick<Frame, "roles" | "breakersOpen" | "endpoints" | "processesLeftOut">

/** A loop that lags more than this makes everything late that the process does. */
const loopLagMsMax = 250

export const conditionsOf = ({
  roles,
  breakersOpen,
  endpoints,
  processesLeftOut
}: FrameSeen): ReadonlyArray<Condition> => [
  ...roles
    .filter(({ state }) => state !== "up")
    .map(({ role, state, why }): Condition => ({
      title: `${role} is ${state}`,
      advice: why === "" ? "Its process does not answer. Look at its log." : why,
      href: "#/fleet",
      tone: state === "down" ? "bad" : "wait"
    })),
  ...breakersOpen.map((name): Condition => ({
    title: `${name} is left alone: it fails`,
    advice: "Mend the receiver. It is tried again by itself, or at once when you resume it.",
    href: `#${endpointAddress(name)}`,
    tone: "bad"
  })),
  ...endpoints
    .filter(({ breaker }) => breaker === "paused")
    .map(({ endpoint, backlog }): Condition => ({
      title: `${endpoint} is paused, with ${countOf(backlog, "delivery", "deliveries")} waiting`,
      advice: "An operator paused it. It misses nothing, and goes on when somebody resumes it.",
      href: `#${endpointAddress(endpoint)}`,
      tone: "wait"
    })),
  ...[...new Set(roles.filter(({ loopLagMs }) => (loopLagMs ?? 0) > loopLagMsMax).map(({ at }) => at))].map(
    (at): Condition => ({
      title: `The process at ${at} is late`,
      advice: "It is busy for too long at a stretch. Give it more processors, or run another beside it.",
      href: "#/fleet",
      tone: "wait"
    })
  ),
  ...(processesLeftOut === 0
    ? []
    : [
        {
          title: `${countOf(processesLeftOut, "process", "processes")} not shown`,
          advice: "More than 64 are work for a monitoring system.",
          href: "#/fleet",
          tone: "wait" as const
        }
      ])
]

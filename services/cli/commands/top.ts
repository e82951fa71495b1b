/** `top`: the fleet as it is now. */
import { Command, Flag } from "effect/cli"
import * as Option from "effect/Option"
import { json, texts, toggle } from "../flags.ts"
import { running } from "../running.ts"

const secondsMax = 3_600

const seconds = (given: string) => {
  const value = Number(given)
  return value >= 0.1 && value <= secondsMax ? Option.some(value) : Option.none()
}

export const top = Command.make(
  "top",
  {
    urls: texts("url", "URL", "where a process shows its metrics, again for each; else the fleet of this home"),
    intervalSeconds: Flag.String("interval").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("how often (1)"),
      Flag.withDefault("1"),
      Flag.filterMap(seconds, () => `seconds, from 0.1 to ${secondsMax}`)
    ),
    once: toggle("once", "print one frame, and end"),
    json
  },
  (given) =>
    running(
      () => import("../top/top.ts"),
      ({ top }) => top(given)
    )
).pipe(
  Command.withShortDescription("watch the fleet: roles, backlogs, breakers, latencies"),
  Command.withDescription(
    "The fleet as it is now, again each second: roles, backlogs, breakers, streams, payments, latencies. q leaves. Where standard output is no terminal, one frame."
  ),
  Command.withExamples([
    { command: "starling top" },
    { command: "starling top --once --json" },
    { command: "starling top --url http://10.0.0.7:9400 --url http://10.0.0.8:9400" }
  ])
)

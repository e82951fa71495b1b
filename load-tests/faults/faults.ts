/** How soon each fault of a running fleet is seen, whether as what it is, and how soon it is gone after its mend. */
import { spawn } from "node:child_process"
import { cpus } from "node:os"
import { conditionsOf, type Fault, type FaultFleet, faults, isPlayable, play, startFaultFleet } from "#dev/faults"
import { exactly, type Figure, type Findings, figuresOf } from "../figures.ts"
import { until } from "../loops.ts"
import type { LoadOptions } from "../options.ts"

const usualSeconds = 30
const quietMsMax = 90_000

type Part = (options: LoadOptions) => Promise<Findings>

/** By condition: the faults that make it true, each as often as it is told. */
export const faultParts: Readonly<Record<string, Part>> = Object.fromEntries(
  [...Map.groupBy(faults.filter(isPlayable), ({ condition }) => condition)].map(([condition, own]) => [
    condition,
    (options: LoadOptions) => played(own, options)
  ])
)

/** One fleet for all parts of a run; it ends with the process that measures. */
let fleet: Promise<FaultFleet> | undefined

const played = async (own: ReadonlyArray<Fault>, { times, busy }: LoadOptions): Promise<Findings> => {
  const end = busy ? burn() : () => undefined
  try {
    fleet ??= startFaultFleet()
    const running = await fleet
    const figures: Array<Figure> = []
    for (const fault of Array.from({ length: times }, () => own).flat()) {
      await until(async () => isWell(running), quietMsMax, "the fleet was well")
      figures.push(...(await figuresOfOne(running, fault)))
    }
    return { figures, series: [] }
  } finally {
    end()
  }
}

const isWell = async (running: FaultFleet) => {
  const found = await conditionsOf(running).catch(() => undefined)
  return found?.isWhole === true && found.items.length === 0
}

const figuresOfOne = async (running: FaultFleet, fault: Fault) => {
  const { condition, what, slow } = fault
  const [found] = await play(running, [fault])
  const figure = figuresOf(`${condition}: ${what}`)
  const within = (seconds: number | null | undefined, limitMs = usualSeconds * 1_000) => ({
    target: `<= ${limitMs / 1_000} s`,
    met: typeof seconds === "number" && seconds <= limitMs / 1_000 + 1
  })
  return [
    figure("seen after", found?.seenAfterSeconds ?? Number.NaN, "s", within(found?.seenAfterSeconds, slow?.seenMs)),
    figure(
      `above it ${found?.above.join(", ") ?? ""}`.trim(),
      found?.above.length ?? 1,
      "",
      exactly(0, found?.above.length ?? 1)
    ),
    figure(
      `others critical ${found?.othersCritical.join(", ") ?? ""}`.trim(),
      found?.othersCritical.length ?? 0,
      "",
      exactly(0, found?.othersCritical.length ?? 0)
    ),
    figure("gone after", found?.goneAfterSeconds ?? Number.NaN, "s", within(found?.goneAfterSeconds, slow?.goneMs))
  ]
}

// Beyond any run: whatever becomes of the one that measures, these end.
const burnMs = 3_600_000

/** All processors have other work, at the lowest priority. */
const burn = () => {
  const loop = `const end = Date.now() + ${burnMs}; while (Date.now() < end);`
  const burners = cpus().map(() => spawn("nice", ["-n", "19", process.execPath, "-e", loop], { stdio: "ignore" }))
  return () => {
    for (const burner of burners) burner.kill("SIGKILL")
  }
}

/** Why a condition stands, in the words of the processes that see it: the failing checks of their `/readyz`. Pure. */
import type { Condition } from "#base/condition"
import { checkOf, type Observed, placeOf, type Sighting } from "./sightings.ts"

const reasonsMax = 3
const charactersMax = 300

// Labels whose value ends the names of checks: `chain eip155:8453`, `room RECEIPTS`.
const namesOf = ({ subject, network, provider }: Sighting["labels"]) =>
  [subject, network, provider].filter((name) => name !== undefined)

/** Without a repetition, and as short as a line or two of a terminal. */
export const reasonsOf = (
  { seen }: Condition,
  { labels, mostly }: Sighting,
  processes: Observed["processes"]
): ReadonlyArray<string> => {
  if (mostly !== undefined) return [`mostly ${mostly}`]
  if (seen.kind === "down") return downReasons(labels, processes)
  const check = checkOf(seen)
  const names = namesOf(labels)
  const { pod } = labels
  const isOne = (name: string) =>
    names.length === 0
      ? check === undefined
        ? pod !== undefined
        : name.startsWith(`${check} `)
      : names.some((end) => (check === undefined ? name.endsWith(` ${end}`) : name === `${check} ${end}`))
  const reasons = processes
    .filter(({ url }) => pod === undefined || pod === placeOf(url))
    .flatMap(({ failing }) => failing.filter(([name]) => isOne(name)))
    .map(([name, reason]) => `${name}: ${reason}`.slice(0, charactersMax))
  const isBroker = seen.kind === "level" && seen.series.metric === "bus_connected"
  return [...new Set([...(isBroker ? [withoutBroker(processes)] : []), ...reasons])].slice(0, reasonsMax)
}

const downReasons = ({ pod, role = "" }: Sighting["labels"], processes: Observed["processes"]) => {
  const others = processes.filter(({ url, answers }) => answers && placeOf(url) !== pod)
  const left = role === "" ? [] : others.filter(({ roles }) => role.split(", ").some((own) => roles.includes(own)))
  return [
    ...(role === ""
      ? []
      : [`it ran ${role}, which ${left.length === 0 ? "no other process runs" : `${left.length} more run`}`]),
    `${others.length} of ${processes.length} processes answer`
  ]
}

/** Whether the fault is the broker's or that of one process. */
const withoutBroker = (processes: Observed["processes"]) => {
  const away = processes.filter(({ failing }) => failing.some(([name]) => name.startsWith("bus ")))
  return `${away.length} of ${processes.length} processes have no connection`
}

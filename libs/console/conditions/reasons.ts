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
  { labels }: Sighting,
  processes: Observed["processes"]
): ReadonlyArray<string> => {
  if (seen.kind === "down") return labels["role"] ? [`it ran ${labels["role"]}`] : []
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
  return [...new Set(reasons)].slice(0, reasonsMax)
}

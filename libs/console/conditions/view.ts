/** The conditions that stand, as the console's API shows them. Pure. */
import { isoTime } from "#base"
import { type Conditions, conditionsShownMax } from "#console/api"
import type { Looked } from "./looks.ts"
import { reasonsOf } from "./reasons.ts"
import { placeOf, type Sighting } from "./sightings.ts"
import { explained, told } from "./standing.ts"

export const conditionsView = ({ atMs, isWhole, standing, processes }: Looked): Conditions => ({
  at: isoTime(atMs),
  isWhole,
  count: standing.length,
  items: explained(standing)
    .slice(0, conditionsShownMax)
    .map((one) => ({
      id: one.id,
      name: one.condition.name,
      severity: one.condition.severity,
      title: told(one.condition.title, withRoles(one, processes)),
      hurts: told(one.condition.hurts, withRoles(one, processes)),
      reasons: reasonsOf(one.condition, one, processes),
      since: isoTime(one.sinceMs),
      labels: one.labels,
      causedBy: one.causedBy,
      commands: one.condition.commands.filter((command) => canRun(command, one)).map((command) => told(command, one)),
      runbook: one.condition.runbook
    }))
})

/** A process of this machine is in no cluster. */
const canRun = (command: string, { labels }: Sighting) =>
  !command.startsWith("kubectl ") || labels["pod"]?.startsWith("127.0.0.1:") !== true

// More are all of `up`, whose address says as much.
const rolesNamedMax = 2

/** A process is known by what it runs: `sweeper (10.0.0.7:9400)`. */
const withRoles = (sighting: Sighting, processes: Looked["processes"]): Sighting => {
  const { labels } = sighting
  const { roles = [] } = processes.find(({ url }) => placeOf(url) === labels["pod"]) ?? {}
  if (labels["pod"] === undefined || roles.length === 0 || roles.length > rolesNamedMax) return sighting
  return { ...sighting, labels: { ...labels, pod: `${roles.join(", ")} (${labels["pod"]})` } }
}

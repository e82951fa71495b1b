/**
 * Rules of Alertmanager by which an alert stays silent while one that explains it fires: the `causedBy` of each
 * condition. Pure.
 */
import type { Condition, Sight } from "#base/condition"
import { isOfPlace } from "#console/conditions"

export interface InhibitRule {
  readonly source_matchers: ReadonlyArray<string>
  readonly target_matchers: ReadonlyArray<string>
  readonly equal: ReadonlyArray<string>
}

/** One for each condition and each set of labels that it shares with its causes. */
export const inhibitRules = (conditions: ReadonlyArray<Condition>): ReadonlyArray<InhibitRule> => {
  const byName = new Map(conditions.map((condition) => [condition.name, condition]))
  return conditions.flatMap(({ name, seen, causedBy }) => {
    const causes = causedBy.flatMap((cause) => byName.get(cause) ?? [])
    const groups = Map.groupBy(causes, (cause) => sharedLabels(cause.seen, seen).join(" "))
    return [...groups].map(([shared, group]) => ({
      source_matchers: [`alertname=~"${group.map((cause) => cause.name).join("|")}"`],
      target_matchers: [`alertname="${name}"`],
      // Two fleets under one Prometheus explain nothing of each other.
      equal: ["namespace", ...shared.split(" ").filter(Boolean)]
    }))
  })
}

/** As the console compares them: a chain's fault does not explain that of another chain, another pod's can. */
const sharedLabels = (cause: Sight, effect: Sight) => {
  const own = labelsOf(effect)
  return labelsOf(cause)
    .filter((label) => own.includes(label) && !isOfPlace(label))
    .toSorted()
}

const labelsOf = (sight: Sight): ReadonlyArray<string> => (sight.kind === "down" ? ["pod"] : sight.by)

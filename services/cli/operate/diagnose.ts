/** The conditions of a fleet as findings of the doctor. Pure. */
import type { Finding } from "#deploy/doctor"
import type { Conditions } from "#console/api"

/** Each condition that has to be mended itself, with what it causes. Those only worth knowing are advice. */
export const findingsOf = ({ items }: Pick<Conditions, "items">): ReadonlyArray<Finding> =>
  items
    .filter(({ causedBy }) => causedBy === null)
    .map(({ id, name, severity, title, hurts, reasons, since, commands }) => {
      const effects = new Set(items.filter(({ causedBy }) => causedBy === id).map((effect) => effect.name))
      const explains = effects.size === 0 ? [] : [`It explains ${[...effects].join(", ")}.`]
      return {
        check: name,
        state: severity === "info" ? "advice" : "missing",
        what: `${title.replace(/\.$/u, "")} (${severity}, since ${since})`,
        why: [hurts, ...explains, ...reasons].join("\n"),
        // It would lead back here.
        mend: [
          ...commands.filter((command) => command !== "./starling doctor"),
          `docs/runbooks.md#${name.toLowerCase()}`
        ].join("\n")
      }
    })

/** The conditions of a fleet as findings of the doctor. Pure. */
import type { Finding } from "#deploy/doctor"
import type { Conditions } from "#console/api"

/** Each condition that has to be mended itself, with what it causes. Those only worth knowing are advice. */
export const findingsOf = ({
  at,
  isWhole,
  items
}: Pick<Conditions, "at" | "isWhole" | "items">): ReadonlyArray<Finding> => [
  ...(isWhole ? [] : [notYetSeen]),
  ...standing({ at, items })
]

/** A green light in the first seconds says little. */
const notYetSeen: Finding = {
  check: "console",
  state: "advice",
  what: "the console began to look less than half a minute ago",
  why: "rates are not seen yet: what fails often or is slow does not show",
  mend: "./starling doctor, in half a minute"
}

const standing = ({ at, items }: Pick<Conditions, "at" | "items">): ReadonlyArray<Finding> =>
  items
    .filter(({ causedBy }) => causedBy === null)
    .map(({ id, name, severity, title, hurts, reasons, since, commands }) => {
      const caused = items.filter(({ causedBy }) => causedBy === id)
      const effects = new Set(caused.map((effect) => effect.name))
      const explains = effects.size === 0 ? [] : [`It explains ${[...effects].join(", ")}.`]
      return {
        check: name,
        state: [severity, ...caused.map((effect) => effect.severity)].every((one) => one === "info")
          ? "advice"
          : "missing",
        what: `${title.replace(/\.$/u, "")} (${severity}, for ${duration(Date.parse(at) - Date.parse(since))}, since ${since})`,
        why: [hurts, ...explains, ...reasons].join("\n"),
        mend: [
          ...commandsOf([commands, ...caused.map((effect) => effect.commands)]),
          `docs/runbooks.md#${name.toLowerCase()}`
        ].join("\n")
      }
    })

/** As many as are read at night. */
const commandsMax = 6

/** First those of the cause, then what its effects leave to do. One of them would lead back here. */
const commandsOf = (all: ReadonlyArray<ReadonlyArray<string>>) =>
  [...new Set(all.flat())].filter((command) => command !== "./starling doctor").slice(0, commandsMax)

const duration = (ms: number) => {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

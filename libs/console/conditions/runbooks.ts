/** The runbooks as a page: what each condition means, and what to do about it. Pure. */
import type { Condition } from "#base/condition"
import { conditionGroups } from "./conditions.ts"

export const runbooksPage = (): string =>
  [
    head,
    ...conditionGroups.map(({ title, conditions }) => [`## ${title}`, ...conditions.map(runbookOf)].join("\n\n"))
  ].join("\n\n") + "\n"

const head = `# Runbooks

Made from the tables of conditions (\`libs/*/contract/conditions.ts\`, \`libs/console/conditions/fleet.ts\`) by \`./starling docs\`.

A condition is what can be wrong with a fleet. \`GET /conditions\` of the console, its pages Home and Fleet, \`./starling doctor\`,
\`./starling top\` and Prometheus' alerts know the same ones by the same names; the annotation \`runbook_url\` of an alert leads here.
\`critical\` pages somebody at once, \`warning\` waits for the working day, \`info\` is for information. A condition that another one
causes is shown below it, and is not alerted while that one is.`

const runbookOf = ({ name, severity, hurts, causedBy, commands, runbook: { means, lookAt, act } }: Condition) =>
  [
    `### ${name}\n`,
    `- Severity: ${severity}.`,
    `- Hurts: ${asGeneral(hurts)}`,
    `- Means: ${means}`,
    `- Look at: ${lookAt}`,
    `- Do: ${act}`,
    ...(commands.length === 0
      ? []
      : [`- Commands: ${commands.map((command) => `\`${asGeneral(command)}\``).join(", ")}.`]),
    ...(causedBy.length === 0
      ? []
      : [`- Caused by: ${causedBy.map((cause) => `[${cause}](#${cause.toLowerCase()})`).join(", ")}.`])
  ].join("\n")

/** A label's name where its value would stand. */
const asGeneral = (text: string) => text.replaceAll(/\{(\w+)\}/gu, "<$1>")

/** What a run found: as a table on the terminal, as JSON, and as a page with plots that needs nothing else. */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import type { Figure, Findings } from "./figures.ts"
import type { Failure } from "./failure.ts"
import { escaped, plot, shown } from "./plot.ts"

export const table = (figures: ReadonlyArray<Figure>): string => {
  const rows = [
    ["scenario", "figure", "value", "target", ""],
    ...figures.map((figure) => [
      figure.scenario,
      figure.name,
      `${shown(figure.value)} ${figure.unit}`.trim(),
      figure.target ?? "",
      figure.met === undefined ? "" : figure.met ? "met" : "MISSED"
    ])
  ]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`).join("\n")
}

export interface Report {
  readonly folder: string
  readonly scenario: string
  readonly seed: number
  readonly findings: Findings
  /** What did not come to its end, and why. */
  readonly failures: ReadonlyArray<Failure>
}

export const writeReport = ({ folder, scenario, seed, findings, failures }: Report) => {
  mkdirSync(folder, { recursive: true })
  const machine = `${cpus().length} cores ${cpus()[0]?.model ?? ""}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`
  const at = new Date().toISOString()
  const file = `${scenario}-${at.replaceAll(":", "-")}`
  const [json, html] = [join(folder, `${file}.json`), join(folder, `${file}.html`)]
  writeFileSync(json, `${JSON.stringify({ scenario, at, machine, seed, failures, ...findings }, null, 2)}\n`)
  writeFileSync(html, page(scenario, `${machine}; ${at}; seed ${seed}`, { ...findings, failures }))
  return { json, html, machine }
}

const page = (
  scenario: string,
  about: string,
  { figures, series, failures }: Findings & Pick<Report, "failures">
) => `<!doctype html>
<meta charset="utf-8"><title>Starling: ${escaped(scenario)} under load</title>
<style>body{font:14px system-ui;margin:2rem;max-width:70rem}td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}.missed{color:#b00}</style>
<h1>${escaped(scenario)} under load</h1><p>${escaped(about)}</p>
${failures.map(({ sentence }) => `<p class="missed">${escaped(sentence)}</p>`).join("\n")}
<table><tr><th>scenario<th>figure<th>value<th>target</tr>
${figures.map((figure) => `<tr${figure.met === false ? ' class="missed"' : ""}><td>${escaped(figure.scenario)}<td>${escaped(figure.name)}<td>${shown(figure.value)} ${escaped(figure.unit)}<td>${escaped(figure.target ?? "")}</tr>`).join("\n")}
</table>
${series.map(plot).join("\n")}
`

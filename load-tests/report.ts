/** What a run found: as a table on the terminal, as JSON, and as a page with plots that needs nothing else. */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import type { Figure, Findings, Series } from "./figures.ts"

const shown = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2))

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

export const writeReport = (folder: string, room: string, findings: Findings) => {
  mkdirSync(folder, { recursive: true })
  const machine = `${cpus().length} cores ${cpus()[0]?.model ?? ""}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`
  const stamp = new Date().toISOString().replaceAll(":", "-")
  const [json, html] = [join(folder, `${room}-${stamp}.json`), join(folder, `${room}-${stamp}.html`)]
  writeFileSync(json, `${JSON.stringify({ machine, ...findings }, null, 2)}\n`)
  writeFileSync(html, page(room, machine, findings))
  return { json, html, machine }
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const page = (room: string, machine: string, { figures, series }: Findings) => `<!doctype html>
<meta charset="utf-8"><title>Starling: ${room} under load</title>
<style>body{font:14px system-ui;margin:2rem;max-width:70rem}td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}.missed{color:#b00}</style>
<h1>${room} under load</h1><p>${escaped(machine)}</p>
<table><tr><th>scenario<th>figure<th>value<th>target</tr>
${figures.map((figure) => `<tr${figure.met === false ? ' class="missed"' : ""}><td>${escaped(figure.scenario)}<td>${escaped(figure.name)}<td>${shown(figure.value)} ${escaped(figure.unit)}<td>${escaped(figure.target ?? "")}</tr>`).join("\n")}
</table>
${series.map(plot).join("\n")}
`

const colours = ["#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df"]

const plot = ({ title, unit, lines }: Series) => {
  const highest = Math.max(...lines.flatMap((line) => line.values)) || 1
  const [width, height] = [640, 240]
  const paths = lines.map(({ values }, index) => {
    const points = values.map(
      (value, at) => `${(at / Math.max(1, values.length - 1)) * width},${height - (value / highest) * height}`
    )
    return `<polyline fill="none" stroke="${colours[index % colours.length]}" stroke-width="2" points="${points.join(" ")}"/>`
  })
  const legend = lines
    .map(({ name }, index) => `<span style="color:${colours[index % colours.length]}">${escaped(name)}</span>`)
    .join(" ")
  return `<h2>${escaped(title)}</h2><p>${legend}; from left to right, up to ${shown(highest)} ${unit}</p><svg width="${width}" height="${height}" style="border:1px solid #ddd">${paths.join("")}</svg>`
}

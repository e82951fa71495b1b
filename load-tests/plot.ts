/** Series as plots in SVG, with axes that can be read. Pure. */
import type { Series } from "./figures.ts"

export const shown = (value: number) => {
  if (!Number.isFinite(value)) return "-"
  return Math.abs(value) >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2)
}

export const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

const colours = ["#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#0a7ea4", "#57606a"]
const [width, height, left, below] = [640, 240, 60, 28]
const ticks = 4

/** Where on the axis a value lies, from 0 to 1. */
const scale = (values: ReadonlyArray<number>, isLogarithmic: boolean) => {
  const on = (value: number) => (isLogarithmic ? Math.log10(Math.max(value, 1)) : value)
  const all = values.filter(Number.isFinite).map(on)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  return (value: number) => (most === least ? 0 : (on(value) - least) / (most - least))
}

const yAxis = (highest: number, unit: string) =>
  Array.from({ length: ticks + 1 }, (_, index) => {
    const y = height - (index / ticks) * height
    const label = `${shown((highest * index) / ticks)}${index === ticks ? ` ${escaped(unit)}` : ""}`
    return (
      `<line x1="${left}" y1="${y}" x2="${left + width}" y2="${y}" stroke="#ddd"/>` +
      `<text x="${left - 4}" y="${y + 4}" text-anchor="end">${label}</text>`
    )
  })

const xAxis = ({ x }: Series, at: (value: number) => number) => {
  if (x === undefined) return []
  const { values } = x
  const isFew = values.length <= 12
  const told = isFew ? values : [0, 1, 2, 3, 4].map((part) => values[Math.round((part / 4) * (values.length - 1))] ?? 0)
  return told.map((value, index) => {
    const label = `${shown(value)}${index === told.length - 1 ? ` ${escaped(x.unit)}` : ""}`
    return `<text x="${left + at(value) * width}" y="${height + 18}" text-anchor="middle">${label}</text>`
  })
}

export const plot = (series: Series): string => {
  const { title, unit, lines, x } = series
  const highest = Math.max(...lines.flatMap((line) => line.values).filter(Number.isFinite)) || 1
  const longest = Math.max(...lines.map(({ values }) => values.length))
  const places = x?.values ?? Array.from({ length: longest }, (_, index) => index)
  const at = scale(places, x?.isLogarithmic ?? false)
  const paths = lines.map(({ values }, index) => {
    const colour = colours[index % colours.length]
    const points = values.flatMap((value, place) =>
      Number.isFinite(value) ? [`${left + at(places[place] ?? 0) * width},${height - (value / highest) * height}`] : []
    )
    const dots = points.length > 12 ? [] : points.map((point) => dot(point, colour ?? ""))
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(" ")}"/>${dots.join("")}`
  })
  const legend = lines
    .map(({ name }, index) => `<span style="color:${colours[index % colours.length]}">&#9632; ${escaped(name)}</span>`)
    .join(" &#160; ")
  const body = [...yAxis(highest, unit), ...xAxis(series, at), ...paths].join("")
  return `<h2>${escaped(title)}</h2><p>${legend}</p><svg width="${left + width + 60}" height="${height + below}" style="font:11px system-ui;overflow:visible">${body}</svg>`
}

const dot = (point: string, colour: string) => {
  const [x, y] = point.split(",")
  return `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`
}

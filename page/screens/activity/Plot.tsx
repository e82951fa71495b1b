import "uplot/dist/uPlot.min.css"
import { useEffect, useRef } from "react"
import UPlot from "uplot"
import { figure } from "../../design/words.ts"
import { shortened } from "../../design/shortened.ts"
import { seriesOf } from "./amounts.ts"

interface PlotProps {
  readonly sums: Parameters<typeof seriesOf>[0]
  readonly by: "day" | "model" | "payer"
}

const heightPx = 220
const colours = ["--accent", "--good", "--wait", "--bad"] as const

/** Bars of what was settled. The table below it says the same in figures. */
export const Plot = ({ sums, by }: PlotProps) => {
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = room.current
    if (element === null) return
    const { keys, series } = seriesOf(sums, by)
    let plot: UPlot | undefined
    const draw = () => {
      plot?.destroy()
      plot = new UPlot(
        optionsOf({ element, keys, labels: series.map(({ label }) => label) }),
        [keys.map((_, index) => index), ...series.map(({ values }) => [...values])],
        element
      )
    }
    draw()
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: heightPx }))
    resized.observe(element)
    scheme.addEventListener("change", draw)
    return () => {
      resized.disconnect()
      scheme.removeEventListener("change", draw)
      plot?.destroy()
    }
  }, [sums, by])
  return (
    <div
      className="plot"
      ref={room}
      role="img"
      aria-label={`What was settled, by ${by}; the table below has the figures`}
    />
  )
}

interface Drawn {
  readonly element: HTMLElement
  readonly keys: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
}

/** Fewer places than this leave room at the right, so that one day is a bar and no wall. */
const placesMin = 6
const labelsMax = 8
/** Of a place's width; the rest is the gap to the next. */
const filled = 0.7

const optionsOf = ({ element, keys, labels }: Drawn): UPlot.Options => {
  const colour = (name: string) => resolvedColour(element, name)
  const [text, line] = [colour("--soft"), colour("--line")]
  const stroke = { stroke: text, ticks: { stroke: line, width: 1 } }
  const places = keys.map((_, place) => place)
  const step = Math.ceil(keys.length / labelsMax)
  const width = filled / labels.length
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { live: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.5, Math.max(keys.length, placesMin) - 0.5] },
      y: { range: (_, __, most) => [0, most * 1.1 || 1] }
    },
    axes: [
      {
        ...stroke,
        grid: { show: false },
        splits: () => places.filter((place) => place % step === 0),
        values: (_, shown) => shown.map((place) => shortened(keys[place] ?? ""))
      },
      {
        ...stroke,
        size: 80,
        grid: { stroke: line, width: 1 },
        values: (_, shown) => shown.map((value) => figure(value))
      }
    ],
    series: [
      {},
      ...labels.map((label, index) => ({
        label,
        stroke: colour(colours[index % colours.length] ?? "--accent"),
        fill: colour(colours[index % colours.length] ?? "--accent"),
        paths: barsAt(places, { offset: index * width - filled / 2, width }),
        points: { show: false }
      }))
    ]
  }
}

interface Bar {
  /** From the middle of its place. */
  readonly offset: number
  readonly width: number
}

/** The bars of several series stand side by side. */
const barsAt = (places: ReadonlyArray<number>, { offset, width }: Bar): UPlot.Series.PathBuilder => {
  const inData = 1
  return (
    UPlot.paths.bars?.({
      disp: {
        x0: { unit: inData, values: () => places.map((place) => place + offset) },
        size: { unit: inData, values: () => places.map(() => width) }
      }
    }) ?? (() => null)
  )
}

/** A colour as a canvas takes it: `light-dark` is for style sheets alone. */
const resolvedColour = (element: HTMLElement, name: string): string => {
  const probe = document.createElement("span")
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

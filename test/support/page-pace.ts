/** How quick the page is, as the browser measures it. */
import type { Browser, Page } from "playwright-core"

/** Notes the tasks that held the page up, and what each click and key had to wait for until it was drawn. */
export const paceScript = `
  window.pace = { tasks: [], inputs: [] }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.pace.tasks.push(duration)
  }).observe({ type: "longtask" })
  new PerformanceObserver((list) => {
    for (const { duration, interactionId } of list.getEntries()) {
      if (interactionId > 0) window.pace.inputs.push(duration)
    }
  }).observe({ type: "event", durationThreshold: 16 })
`

export interface Pace {
  /** The longest of the browser's tasks by the clock: on a busy machine most of it is other programs' time. */
  readonly longestTaskMs: number
  /** The longest that one task kept a processor. */
  readonly busiestTaskMs: number
  /** From an input to the frame that shows it: half of them took no longer. Less than 16 ms does not count. */
  readonly inputMs: number
  readonly slowestInputMs: number
  readonly inputs: number
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Of the thread's own processor time, µs. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Measures from now on. */
export const measurePace = async (browser: Browser, page: Page) => {
  await page.evaluate("window.pace = { tasks: [], inputs: [] }")
  // That of a test before, which failed.
  await browser.stopTracing().catch(() => undefined)
  await browser.startTracing(page, { categories: ["toplevel"] })
  return async (): Promise<Pace> => {
    const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: ReadonlyArray<TraceEvent> }
    const { tasks, inputs }: { tasks: Array<number>; inputs: Array<number> } = await page.evaluate("window.pace")
    const sorted = inputs.toSorted((left, right) => left - right)
    return {
      longestTaskMs: Math.round(Math.max(0, ...tasks)),
      busiestTaskMs: Math.round(busiestTaskMs(trace.traceEvents)),
      inputMs: sorted[sorted.length >> 1] ?? 0,
      slowestInputMs: sorted.at(-1) ?? 0,
      inputs: inputs.length
    }
  }
}

const busiestTaskMs = (events: ReadonlyArray<TraceEvent>) => {
  const threads = events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
  const drawing = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`))
  const tasks = events.filter(({ name, pid, tid }) => name.endsWith("RunTask") && drawing.has(`${pid} ${tid}`))
  if (tasks.length === 0) throw new Error("the trace has no tasks")
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1_000), 0)
}

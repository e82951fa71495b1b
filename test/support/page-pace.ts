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
  /** How many times as long as on a rested machine the processors took for the same work, beside the page's. */
  readonly slower: number
  /** How many times as long as on a processor the page's tasks took by the clock. */
  readonly contended: number
}

/**
 * The longest task and answer that nobody minds on a rested machine, and what they come to on this one at that hour. A
 * machine that is slower than the most says nothing of the page.
 */
export const paceMax = ({ slower, contended }: Pick<Pace, "slower" | "contended">, restedMs: number) => {
  const scaled = (factor: number) => Math.round(restedMs * Math.min(slowerMax, Math.max(1, factor)))
  return { taskMs: scaled(slower), inputMs: scaled(slower * contended) }
}

const slowerMax = 2.5

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** By the clock, µs. */
  readonly dur?: number
  /** Of the thread's own processor time, µs. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Measures from now on. */
export const measurePace = async (browser: Browser, page: Page) => {
  const bareBeforeMs = await bareWorkMs(browser)
  await page.evaluate("window.pace = { tasks: [], inputs: [] }")
  await startTracing(browser, page)
  return async (): Promise<Pace> => {
    const traced = await tasksUntilNow(browser)
    const { tasks, inputs }: { tasks: Array<number>; inputs: Array<number> } = await page.evaluate("window.pace")
    const sorted = inputs.toSorted((left, right) => left - right)
    const bareMs = Math.max(bareBeforeMs, await bareWorkMs(browser))
    return {
      longestTaskMs: Math.round(Math.max(0, ...tasks)),
      busiestTaskMs: Math.round(Math.max(...traced.map(({ processorMs }) => processorMs))),
      inputMs: sorted[sorted.length >> 1] ?? 0,
      slowestInputMs: sorted.at(-1) ?? 0,
      inputs: inputs.length,
      slower: Math.round((100 * bareMs) / restedBareMs) / 100,
      contended: Math.round(100 * contentionOf(traced)) / 100
    }
  }
}

/** As the page's own work: rows of a table, made and laid out. */
const bareWork = `{
  const table = document.createElement("table")
  table.innerHTML = "<tr><td>12:00:00</td><td><a href='#x'>something happened</a></td><td>by somebody</td></tr>".repeat(800)
  document.body.append(table)
  void table.offsetHeight
  table.remove()
}`
const bareTimes = 7
/** On a processor with nothing else to do. */
const restedBareMs = 50

/** What the same work takes of a processor now, without the page. */
const bareWorkMs = async (browser: Browser): Promise<number> => {
  const page = await browser.newPage()
  await startTracing(browser, page)
  for (let time = 0; time < bareTimes; time += 1) await page.evaluate(bareWork)
  const tasks = await tasksUntilNow(browser)
  await page.close()
  const longest = tasks.map(({ processorMs }) => processorMs).toSorted((left, right) => right - left)
  return longest[bareTimes >> 1] ?? 0
}

const startTracing = async (browser: Browser, page: Page) => {
  // That of a test before, which failed.
  await browser.stopTracing().catch(() => undefined)
  await browser.startTracing(page, { categories: ["toplevel"] })
}

interface Task {
  readonly clockMs: number
  readonly processorMs: number
}

/** What drew the browser's pages. */
const tasksUntilNow = async (browser: Browser): Promise<ReadonlyArray<Task>> => {
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: ReadonlyArray<TraceEvent>
  }
  const threads = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
  const drawing = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`))
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith("RunTask") && drawing.has(`${pid} ${tid}`))
  if (tasks.length === 0) throw new Error("the trace has no tasks")
  return tasks.map(({ dur = 0, tdur = 0 }) => ({ clockMs: dur / 1_000, processorMs: tdur / 1_000 }))
}

const sumOf = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

const contentionOf = (tasks: ReadonlyArray<Task>) =>
  sumOf(tasks.map(({ clockMs }) => clockMs)) / Math.max(1, sumOf(tasks.map(({ processorMs }) => processorMs)))

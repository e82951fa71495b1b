/** How load is made and waited for: open loops at a rate, closed loops at a width, and waiting for a fact. */
export const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, milliseconds)))

/** Begins one after the other at a fixed rate, whether or not those before have ended; answers when all have. */
export const openLoop = async <A>(
  perSecond: number,
  seconds: number,
  begin: (index: number) => Promise<A>
): Promise<ReadonlyArray<A>> => {
  const started = performance.now()
  const running: Array<Promise<A>> = []
  for (let index = 0; index < perSecond * seconds; index++) {
    await pause(started + (index * 1_000) / perSecond - performance.now())
    running.push(begin(index))
  }
  return Promise.all(running)
}

/** `count` of them, at most `atOnce` at a time. */
export const closedLoop = async <A>(count: number, atOnce: number, run: (index: number) => Promise<A>) => {
  const results: Array<A> = []
  let next = 0
  const worker = async () => {
    while (next < count) results.push(await run(next++))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

export interface Timed {
  readonly ms: ReadonlyArray<number>
  readonly perSecond: number
}

/** A closed loop whose rounds and whole are timed. */
export const timedLoop = async (
  count: number,
  atOnce: number,
  run: (index: number) => Promise<void>
): Promise<Timed> => {
  const began = performance.now()
  const ms = await closedLoop(count, atOnce, async (index) => {
    const from = performance.now()
    await run(index)
    return performance.now() - from
  })
  return { ms, perSecond: (count / (performance.now() - began)) * 1_000 }
}

/** `what`: the fact that is waited for, in words. */
export const until = async (
  is: () => Promise<boolean> | boolean,
  withinMs: number,
  what = "what was waited for came to be"
) => {
  const deadline = performance.now() + withinMs
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error(`it was not so within ${withinMs / 1_000} s that ${what}`)
    await pause(10)
  }
}

/** Epoch milliseconds with fraction, the same in all processes of this machine. */
export const now = () => performance.timeOrigin + performance.now()

export interface Steady {
  readonly begun: number
  /** Whose turn came while too many were still running: the server did not keep up. */
  readonly heldUp: number
}

/** An open loop for hours: nothing is kept of what has ended, and no more than `runningMax` run at once. */
export const steadyLoop = async (
  perSecond: number,
  seconds: number,
  runningMax: number,
  run: (index: number) => Promise<void>
): Promise<Steady> => {
  const started = performance.now()
  const running = new Set<Promise<void>>()
  let [begun, heldUp] = [0, 0]
  for (let index = 0; index < perSecond * seconds; index++) {
    await pause(started + (index * 1_000) / perSecond - performance.now())
    if (running.size >= runningMax) {
      heldUp += 1
      continue
    }
    begun += 1
    const one: Promise<void> = run(index).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  return { begun, heldUp }
}

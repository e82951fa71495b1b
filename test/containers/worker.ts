/** A worker that repeats one round until it is told to stop, and then finishes its present round. */

export interface Worker {
  /** Resolves when the last round has ended. */
  readonly stop: () => Promise<void>
}

export const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A round that throws ends the worker, and `stop` then fails with it: rounds must handle expected failures. */
export const work = (everyMs: number, round: (nth: number) => Promise<void>): Worker => {
  const stopping = new AbortController()
  const run = async () => {
    for (let nth = 0; !stopping.signal.aborted; nth += 1) {
      const startedMs = performance.now()
      await round(nth)
      await pauseMs(Math.max(0, everyMs - (performance.now() - startedMs)))
    }
  }
  const running = run()
  running.catch(() => undefined)
  return {
    stop: () => {
      stopping.abort()
      return running
    }
  }
}

export const stopAll = (workers: ReadonlyArray<Worker>) => Promise.all(workers.map(({ stop }) => stop()))

// The tests of outages state how long the slowest answer took; this only ends what would never end, also on a
// machine on which every role starts anew at once and takes a minute for it.
const answeredWithinMs = 150_000

/** Repeats a request until it is answered; the request must be idempotent. */
export const insist = async <A>(
  what: string,
  act: () => Promise<A | undefined>,
  withinMs = answeredWithinMs
): Promise<A> => {
  const deadline = performance.now() + withinMs
  let last: unknown
  while (performance.now() < deadline) {
    const answer = await act().catch((error: unknown) => {
      last = error
      return undefined
    })
    if (answer !== undefined) return answer
    await pauseMs(100)
  }
  const seen = last instanceof Error ? last.message : "nothing"
  throw new Error(`${what}: no answer within ${withinMs} ms, the last was: ${seen}`)
}

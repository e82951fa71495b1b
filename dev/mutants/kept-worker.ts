/**
 * A process for tests that outlives a run of vitest: what a mutant does not change is loaded once. Vitest starts and stops
 * its workers with every run, so that the second start and all stops are answered here.
 */
import { ForksPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from "vitest/node"
import { kill, processesBelow } from "./processes.ts"

type Callback = (...args: Array<unknown>) => void

interface Kept {
  readonly worker: ForksPoolWorker
  isStarted: boolean
}

/** Beyond this the modules of earlier mutants fill the process, and a new one takes its place. */
const heapBytesMax = 1.5e9

export class KeptWorkers {
  private readonly byProject = new Map<string, Kept>()

  readonly name = "kept"

  readonly createPoolWorker = (options: PoolOptions): PoolWorker => {
    const project = options.project.name
    const kept = this.byProject.get(project) ?? { worker: new ForksPoolWorker(options), isStarted: false }
    this.byProject.set(project, kept)
    const forget = () => {
      if (this.byProject.get(project) === kept) this.byProject.delete(project)
    }
    return visitTo(kept, { end: () => this.end(), forget })
  }

  has(project: string): boolean {
    return this.byProject.has(project)
  }

  /** Ends the processes, whatever they do, and the brokers and programs that their tests have started. */
  async end(): Promise<void> {
    const started = processesBelow(process.pid)
    const workers = [...this.byProject.values()].filter(({ isStarted }) => isStarted)
    this.byProject.clear()
    await Promise.all(workers.map(({ worker }) => worker.stop()))
    for (const pid of started) kill(pid)
  }
}

const answered = { __vitest_worker_response__: true } as const

interface Ends {
  readonly end: () => Promise<void>
  /** Of a process that a mutant has brought down. */
  readonly forget: () => void
}

/** One run's worker: its listeners go with it, the process stays. */
const visitTo = (kept: Kept, { end, forget }: Ends): PoolWorker => {
  const listeners: Array<readonly [event: string, callback: Callback]> = []
  let heapBytes = 0
  const answer = (type: string) => {
    for (const [event, callback] of listeners) if (event === "message") callback({ ...answered, type })
  }
  return {
    name: "kept",
    reportMemory: true,
    cacheFs: kept.worker.cacheFs,
    on: (event: string, callback: Callback) => {
      listeners.push([event, callback])
      kept.worker.on(event, callback)
    },
    off: (event: string, callback: Callback) => kept.worker.off(event, callback),
    deserialize: (data: unknown) => {
      if (isAnswer(data)) return data
      const message = kept.worker.deserialize(data) as { readonly usedMemory?: number }
      heapBytes = message.usedMemory ?? heapBytes
      return message
    },
    send: (message: WorkerRequest) => {
      if (message.type === "stop") return queueMicrotask(() => answer("stopped"))
      if (message.type === "start" && kept.isStarted) return queueMicrotask(() => answer("started"))
      if (message.type === "start") kept.isStarted = true
      return kept.worker.send(message)
    },
    start: async () => {
      if (kept.isStarted) return
      await kept.worker.start()
      kept.worker.on("exit", forget)
    },
    stop: async () => {
      for (const [event, callback] of listeners) kept.worker.off(event, callback)
      if (heapBytes > heapBytesMax) await end()
    }
  }
}

const isAnswer = (data: unknown) =>
  typeof data === "object" && data !== null && (data as Partial<typeof answered>).__vitest_worker_response__ === true

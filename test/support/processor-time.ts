/** The cost of a computation, whatever else the machine does meanwhile. */

export interface Computed<A> {
  readonly value: A
  /** The processor time of this thread; waiting costs none. */
  readonly processorMs: number
}

export const computed = <A>(compute: () => A): Computed<A> => {
  const before = process.threadCpuUsage()
  const value = compute()
  const { user, system } = process.threadCpuUsage(before)
  return { value, processorMs: (user + system) / 1_000 }
}

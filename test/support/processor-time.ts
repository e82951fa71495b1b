/** What a computation costs, however much else the machine does meanwhile. */

export interface Computed<A> {
  readonly value: A
  /** The processor time of this thread; what keeps it waiting costs none. */
  readonly processorMs: number
}

export const computed = <A>(compute: () => A): Computed<A> => {
  const before = process.threadCpuUsage()
  const value = compute()
  const { user, system } = process.threadCpuUsage(before)
  return { value, processorMs: (user + system) / 1_000 }
}

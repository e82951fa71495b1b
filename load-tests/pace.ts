/** How fast a processor of this machine is just now: machines that are shared change by times within an hour. */

const steps = 10_000_000

/** Milliseconds for a loop of ten million additions. */
export const paceMs = () => {
  const from = performance.now()
  let sum = 0
  for (let step = 0; step < steps; step++) sum += step % 7
  // Used, so that the loop is not left out.
  if (sum < 0) throw new Error("additions went wrong")
  return performance.now() - from
}

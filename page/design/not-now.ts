/** The first reason that holds, of those for which something cannot be done now. */
export const notNowIf = (...reasons: ReadonlyArray<readonly [holds: boolean, reason: string]>): string | undefined =>
  reasons.find(([holds]) => holds)?.[1]

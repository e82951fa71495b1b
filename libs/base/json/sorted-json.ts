/** JSON in one spelling, so that values which differ in the order of their keys alone compare as equal. Pure. */

/** JSON with the keys of every object sorted. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part
  )

export const sameJson = (left: unknown, right: unknown): boolean => sortedJson(left) === sortedJson(right)

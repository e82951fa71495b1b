/** A room of which it is known what its test notices: see room.integration.test.ts. */
const limit = 7

/** The test holds this to its limit. */
export const isWithin = (amount: number) => amount <= limit

/** The test does not try the limit itself. */
export const isLarge = (amount: number) => amount > limit

/** With a mutant this may never end. */
export const halvings = (amount: number) => {
  let times = 0
  for (let left = amount; left > 1; left = Math.floor(left / 2)) times += 1
  return times
}

/** No test uses this. */
export const doubled = (amount: number) => amount + amount

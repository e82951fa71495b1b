/**
 * Rounds of a measurement, without those in which the machine under this one gave much of its processors to others: a
 * process stands still for milliseconds then, wherever it is, and the slowest of a hundred calls tell of nothing else.
 * Such rounds are made again, some times over; where too few were quiet the least disturbed are taken, and counted.
 */
import { noteFailure } from "./figures.ts"
import { processorTime, stolenPercent } from "./pace.ts"

const stolenPercentMax = 2
// On a machine that is never quiet a scenario takes no longer than this many times its time.
const triesForEach = 4

export interface Round<A> {
  readonly result: A
  readonly stolenPercent: number
}

export interface Rounds<A> {
  readonly results: ReadonlyArray<A>
  readonly made: number
  /** Of the results, those of rounds that were disturbed. */
  readonly disturbed: number
}

const isQuiet = ({ stolenPercent }: Round<unknown>) => !(stolenPercent > stolenPercentMax)

/** Of all that were made, the quiet ones, and the least disturbed to make up the number. */
export const chosen = <A>(made: ReadonlyArray<Round<A>>, wanted: number): Rounds<A> => {
  const quiet = made.filter(isQuiet).slice(0, wanted)
  const others = made.filter((round) => !isQuiet(round))
  const taken = others
    .toSorted((left, right) => left.stolenPercent - right.stolenPercent)
    .slice(0, wanted - quiet.length)
  return {
    results: [...quiet, ...taken].map(({ result }) => result),
    made: made.length,
    disturbed: taken.length
  }
}

/** `madeMax`: of all rounds together, where more of them would change what is measured. */
export const undisturbed = async <A>(
  wanted: number,
  run: () => Promise<A>,
  madeMax: number = wanted * triesForEach
): Promise<Rounds<A>> => {
  const made: Array<Round<A>> = []
  while (made.filter(isQuiet).length < wanted && made.length < madeMax) {
    const before = processorTime()
    try {
      const result = await run()
      made.push({ result, stolenPercent: stolenPercent(before, processorTime()) })
    } catch (error) {
      // What was measured until then is worth telling, and the failure is told with it.
      if (made.length === 0) throw error
      noteFailure(error)
      break
    }
  }
  return chosen(made, wanted)
}

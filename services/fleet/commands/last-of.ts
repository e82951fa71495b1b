/** The last of what a stream's messages say, found from its end: in windows that grow, each read once. */
import { Effect, Stream } from "effect"
import { type SourceMessage, StreamReader } from "#bus"

// A few pages of the broker's at first; where what is wanted is rare, larger ones cost fewer requests.
const windowMin = 1_024
const windowMax = 65_536

/** In the stream's order, at most `count`; `show` may make none or some of a message. */
export const lastOf = Effect.fnUntraced(function* <A>(
  stream: string,
  { firstSequence, lastSequence }: { readonly firstSequence: number; readonly lastSequence: number },
  count: number,
  show: (message: SourceMessage) => ReadonlyArray<A>
) {
  const reader = yield* StreamReader
  let found: ReadonlyArray<A> = []
  let width = windowMin
  for (let to = lastSequence; found.length < count && to >= firstSequence; width = Math.min(2 * width, windowMax)) {
    const from = Math.max(firstSequence, to - width + 1)
    let shown: Array<A> = []
    yield* Stream.runForEach(reader.range(stream, { fromSequence: from, toSequence: to }), (message) =>
      Effect.sync(() => {
        shown.push(...show(message))
        // No more is kept than is wanted, but for what saves cutting at each message.
        if (shown.length > 2 * count) shown = shown.slice(-count)
      })
    )
    found = [...shown, ...found].slice(-count)
    to = from - 1
  }
  return found
})

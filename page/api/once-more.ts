const afterMs = 300

/** A browser drops what it loads when the network changes. What only reads is tried once more, while it is wanted. */
export const onceMore = <A>(read: () => Promise<A>, isWanted = () => true): Promise<A> =>
  read().catch(async (error: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    if (!isWanted()) throw error
    return read()
  })

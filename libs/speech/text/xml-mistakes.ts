/** Mistakes in XML that are told of better than the parser does. Both answer with an offset, or -1. */

/** Where half a surrogate pair stands, which no XML may hold and no engine can say. */
export const halfPairAt = (input: string) => {
  if (input.isWellFormed()) return -1
  const mended = input.toWellFormed()
  for (let at = 0; at < input.length; at += 1) if (input[at] !== mended[at]) return at
  return -1
}

/** The commonest mistake of all, which the parser only tells of at the next semicolon or at the end. */
export const bareAmpersand = (input: string, from: number, to: number) => {
  const found = input.slice(from).search(/&(?!(?:amp|lt|gt|quot|apos|#\d{1,9}|#x[\da-fA-F]{1,8});)/u)
  return found === -1 || from + found >= to ? -1 : from + found
}

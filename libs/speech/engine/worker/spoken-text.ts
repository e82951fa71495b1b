/** The text that an engine speaks in place of the caller's, and the way from its positions back to the caller's. */

/** Control characters steer engines (espeak takes U+0001 for a command) and end C strings: they become spaces. */
export const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, " ")

/** The UTF-16 index at which each code point of the text begins, then the text's length. */
export const codePointStarts = (text: string): Uint32Array => {
  const starts = new Uint32Array(text.length + 1)
  let [count, at] = [0, 0]
  for (const character of text) {
    starts[count++] = at
    at += character.length
  }
  starts[count++] = at
  return starts.subarray(0, count)
}

/** Whether the text ends where a speaker pauses: after punctuation and any closing marks behind it. */
export const endsWithPause = (text: string): boolean => /[.!?:;,…。！？、，；：؟،]["'”’»)\]\s]*$/u.test(text)

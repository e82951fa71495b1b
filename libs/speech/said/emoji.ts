/** Pictures in a text. They are silent: whoever reads a message aloud leaves them out. Pure. */

/** A picture with its colours and joints, a flag, a key. Signs that are letters or trade marks are no pictures. */
const pictures =
  /(?![©®™‼⁉ℹⓂ〰✓✔✕✖✗✘★☆♂♀°])(?:\p{Extended_Pictographic}(?:[\u{1f3fb}-\u{1f3ff}]|\u{fe0f}|\u{20e3})*(?:\u{200d}\p{Extended_Pictographic}(?:[\u{1f3fb}-\u{1f3ff}]|\u{fe0f})*)*|\p{Regional_Indicator}{2})|\u{fe0f}|\u{20e3}|\u{200d}/gu

export const withoutEmoji = (text: string): string => text.replaceAll(pictures, "")

const wholeMax = 14

/** `0x1234…cdef`: enough to tell two ids apart. */
export const shortened = (text: string): string =>
  text.length <= wholeMax ? text : `${text.slice(0, 6)}…${text.slice(-4)}`

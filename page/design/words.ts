/** Numbers, sizes and times in words, as in a terminal. */
export * from "#console/words"

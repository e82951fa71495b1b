/** The judges of speech, and how far what they hear is from what was said. */
export * from "./Hearing.ts"
export * from "./errors.ts"

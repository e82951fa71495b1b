/** The commands that are derived from the console's contract. */
export { rejected } from "./rejected.ts"

/** The HTTP API and settings of the console, as data. */
export { Console } from "./settings.ts"

/** The fleet's home, for commands. The code that starts a fleet has `#` names of its own and is loaded only then. */
export { isFleetIn } from "./home-lock.ts"
export { keepPasswords, passwordsFolder, readPassword } from "./passwords.ts"
export { natsFolder, readSettings, writePrivately } from "./home.ts"
export { readNotes } from "./role-process.ts"

/** A home, as commands find it. What starts a fleet is entered by names of its own, and loaded then. */
export { isFleetIn } from "./home-lock.ts"
export { keepPasswords, passwordsFolder, readPassword } from "./nats-server/passwords.ts"
export { writePrivately } from "./private-file.ts"
export { readNotes } from "./role-process.ts"
export { natsFolder, readSettings } from "./settings.ts"

/** Where a broker is, and as whom one connects to it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface BusAddress {
  /** One or more, with commas between them. */
  readonly url: string
  /** On a broker that knows its users. */
  readonly user?: string
  readonly password?: string
}

/** For the client library. */
export const connectionTo = ({ url, user, password }: BusAddress) => ({
  servers: url.split(","),
  ...(user === undefined ? {} : { user, inboxPrefix: `_INBOX_${user}` }),
  ...(password === undefined ? {} : { pass: password })
})

export const passwordsOf = (home: string) => join(home, "nats/users")

/** As one of the users of a home's broker: of the house itself, whose owner has all their passwords. */
export const homeAddress = (home: string, url: string, user: string): BusAddress => ({
  url,
  user,
  password: readFileSync(join(passwordsOf(home), user), "utf8").trim()
})

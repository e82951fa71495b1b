/** Where a user of the broker is answered: below a name of its own, so that permissions can keep users apart. */
import { encodeToken } from "#contracts"

export const inboxPrefix = (user: string) => `_INBOX_${encodeToken(user)}`

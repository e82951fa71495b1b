/** The layouts of a paid call's three roles. Payers and auditors see the same in each. */
import { withPayments } from "./payment-fleet.ts"

export const layouts: ReadonlyArray<{ readonly layout: string; readonly withPayments: typeof withPayments }> = [
  { layout: "roles apart", withPayments },
  {
    layout: "roles of one process",
    withPayments: (test, options) => withPayments(test, { ...options, hasLocalTransport: true })
  }
]

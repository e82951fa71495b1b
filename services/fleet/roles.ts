/** The roles that exist, by name. A new role is one line here and one name in the configuration's list. */
import type { RoleName } from "#contracts"
import { webhookDispatcher } from "../webhook-dispatcher/layer.ts"

export const roles = {
  "webhook-dispatcher": webhookDispatcher
} as const satisfies Record<RoleName, unknown>

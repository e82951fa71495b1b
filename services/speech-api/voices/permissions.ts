/** Who may take a workspace's voices away: its members who manage its content, and service accounts, by their scopes. Pure. */
import type { TokenRecord } from "#http"

const managers: ReadonlySet<TokenRecord["role"]> = new Set(["owner", "admin", "member"])

export const mayManageContent = ({ kind, role }: Pick<TokenRecord, "kind" | "role">): boolean =>
  kind === "service" || managers.has(role)

/** The processes of a fleet, each with the roles inside. Pure. */
import type { Answer } from "../../api/client.ts"

type Role = Answer<"GET", "/fleet">["roles"][number]

export interface Process {
  readonly at: string
  /** The gravest of its roles. */
  readonly state: Role["state"]
  readonly roles: ReadonlyArray<Role>
}

const gravity: Readonly<Record<Role["state"], number>> = { up: 0, "not ready": 1, down: 2 }

/** In the order of the roles, those that need attention first. */
export const processesOf = (roles: ReadonlyArray<Role>): ReadonlyArray<Process> =>
  [...Map.groupBy(roles, ({ at }) => at)]
    .map(([at, inside]): Process => ({
      at,
      state: inside.map(({ state }) => state).reduce((one, other) => (gravity[other] > gravity[one] ? other : one)),
      roles: inside
    }))
    .toSorted((left, right) => gravity[right.state] - gravity[left.state])

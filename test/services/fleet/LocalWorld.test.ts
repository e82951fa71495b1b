import { assert, describe, it } from "@effect/vitest"
import { roleNames } from "#base"
import { partsOf } from "../../../services/fleet/LocalWorld.ts"

describe("what a configuration leaves to the local world", () => {
  it.each([
    ["everything without a file", "", {}, { hasNetworks: false, hasModels: false, roles: roleNames }],
    [
      "everything with a file about something else",
      '{"Webhooks":[]}',
      {},
      { hasNetworks: false, hasModels: false, roles: roleNames }
    ],
    [
      "nothing that it has itself",
      '{"Payments":{"Networks":[{}]},"ModelGateway":{"Models":[{}]},"Fleet":{"Roles":["speech-api"]}}',
      {},
      { hasNetworks: true, hasModels: true, roles: ["speech-api"] }
    ],
    [
      "the roles that the environment names",
      '{"Fleet":{"Roles":["speech-api"]}}',
      { FLEET_ROLES: '["model-gateway"]' },
      { hasNetworks: false, hasModels: false, roles: ["model-gateway"] }
    ],
    ["everything with a file that is broken", "{", {}, { hasNetworks: false, hasModels: false, roles: roleNames }]
  ] as const)("is %s", (_what, text, environment, wanted) => {
    assert.deepStrictEqual(partsOf(text, environment), { ...wanted, roles: [...wanted.roles] })
  })
})

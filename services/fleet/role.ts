/** Runs the named roles in this process, on a broker that runs elsewhere. This is a container's command. */
import { Effect, Layer } from "effect"
import type { RoleName } from "#contracts"
import { Addresses, Configuration, OpsServer, runProgram } from "#runtime"
import { checkConfiguration } from "./configuration-check.ts"
import { processLayer, rolesLayer } from "./roles.ts"
import { readSettings } from "./settings.ts"

const configured = (roles: ReadonlyArray<RoleName>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { configPath, isConfigNamed } = yield* readSettings
      const source = { path: configPath, isRequired: isConfigNamed }
      yield* checkConfiguration(source, roles)
      return Configuration.layer(source)
    })
  )

const onReady = Effect.gen(function* () {
  const { url } = yield* OpsServer
  const addresses = yield* (yield* Addresses).all
  process.stdout.write(`${JSON.stringify({ metrics: url, ...Object.fromEntries(addresses) })}\n`)
})

export interface RoleOrder {
  readonly names: ReadonlyArray<RoleName>
  readonly readyJson: boolean
}

export const role = ({ names, readyJson }: RoleOrder): void => {
  const layer = rolesLayer(names).pipe(Layer.provideMerge(processLayer), Layer.provideMerge(configured(names)))
  runProgram({ layer, format: "json", ...(readyJson ? { onReady } : {}) })
}

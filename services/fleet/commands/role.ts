/**
 * `role <name>...`: the named roles in this process, on a broker that runs elsewhere. What a container runs.
 * `--ready-json` prints one line on stdout once they are ready.
 */
import { Effect, Layer } from "effect"
import { type RoleName, roleNames } from "#contracts"
import { Addresses, Configuration, OpsServer, runProgram } from "#runtime"
import { checkConfiguration } from "../configuration-check.ts"
import { processLayer, rolesLayer } from "../fleet-layer.ts"
import { readSettings } from "../settings.ts"

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

export const role = (given: ReadonlyArray<string>): void => {
  const parameters = given.filter((parameter) => parameter !== "--ready-json")
  const unknown = parameters.filter((name) => !(roleNames as ReadonlyArray<string>).includes(name))
  if (parameters.length === 0 || unknown.length > 0) {
    process.stderr.write(`starling: role takes one or more of: ${roleNames.join(", ")}\n`)
    process.exit(2)
  }
  const roles = parameters as ReadonlyArray<RoleName>
  const layer = rolesLayer(roles).pipe(Layer.provideMerge(processLayer), Layer.provideMerge(configured(roles)))
  runProgram({ layer, format: "json", ...(given.includes("--ready-json") ? { onReady } : {}) })
}

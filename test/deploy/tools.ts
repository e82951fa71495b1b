/** The tools that `dev/install/deploy.sh` provides, from the environment or where it put them. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

export const repository = join(import.meta.dirname, "../..")
const folder = join(repository, ".starling/tools")

const own = (prefix: string, file: string) => {
  const found = existsSync(folder)
    ? readdirSync(folder).find((name) => new RegExp(`^${prefix}(?:-[^.]|$)`, "u").test(name))
    : undefined
  const path = found === undefined ? undefined : join(folder, found, file)
  return path !== undefined && existsSync(path) ? path : undefined
}

const ownKustomize = own("kustomize", "kustomize")

/** The command that renders a folder; undefined where there is none. */
export const kustomize: ReadonlyArray<string> | undefined =
  process.env["STARLING_KUSTOMIZE"]?.split(" ") ?? (ownKustomize === undefined ? undefined : [ownKustomize, "build"])

export const promtool = process.env["STARLING_PROMTOOL"] ?? own("prometheus", "promtool")
export const prometheus = process.env["STARLING_PROMETHEUS"] ?? own("prometheus", "prometheus")
export const alertmanager = process.env["STARLING_ALERTMANAGER"] ?? own("prometheus", "prometheus-alertmanager")

/** The folder with the schemas of Kubernetes, KEDA and the Prometheus operator. */
export const schemas = process.env["STARLING_SCHEMAS"] ?? own("schemas", "")

/**
 * What runs beside the fleet in production: the brokers by their chart, NACK, and KEDA. Helm, the charts and the
 * controllers' programs are files of one folder, which `STARLING_CLUSTER_PARTS` names; there is no registry.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { schemas } from "../../deploy/tools.ts"
import { clusterEnvironment, type Loaded, root, within } from "../cluster.ts"
import { charts } from "./install-page.ts"

/** The image's name in a chart, without tag; the program that it runs, and the program's path in it. */
interface ProgramImage {
  readonly image: string
  readonly program: string
  readonly path: string
}

const ofBrokers: ReadonlyArray<ProgramImage> = [
  { image: "natsio/jetstream-controller", program: "jetstream-controller", path: "/jetstream-controller" },
  { image: "natsio/nats-server-config-reloader", program: "nats-server-config-reloader", path: "/reloader" },
  { image: "natsio/prometheus-nats-exporter", program: "prometheus-nats-exporter", path: "/exporter" }
]

const ofKeda: ReadonlyArray<ProgramImage> = [
  { image: "ghcr.io/kedacore/keda", program: "keda-operator", path: "/keda" },
  { image: "ghcr.io/kedacore/keda-metrics-apiserver", program: "keda-adapter", path: "/keda-adapter" },
  { image: "ghcr.io/kedacore/keda-admission-webhooks", program: "keda-webhooks", path: "/keda-admission-webhooks" }
]

// Of Kubernetes: a helm without a cluster may take itself for older than a chart wants.
const oldestVersion = "1.30.0"

const isKedas = (chart: string) => chart.startsWith("kedacore/")

/** A file's place: among the parts, the tool's own programs, or the machine's. */
export const placeOf = (file: string) =>
  (clusterEnvironment()["PATH"] ?? "")
    .split(":")
    .map((folder) => join(folder, file))
    .find((path) => existsSync(path))

const missingAmong = (programs: ReadonlyArray<ProgramImage>, areKedas: boolean) =>
  [
    ...charts().flatMap(({ name, file }) => (isKedas(name) === areKedas ? [file] : [])),
    ...programs.map(({ program }) => program)
  ].filter((file) => placeOf(file) === undefined)

/** The files without which production is not tried; and those without which it is tried, but not scaled. */
export const missing = () => ({
  production: [
    ...(placeOf("helm") === undefined ? ["helm"] : []),
    ...missingAmong(ofBrokers, false),
    ...(schemas === undefined ? ["schemas of the Prometheus operator"] : [])
  ],
  scaling: missingAmong(ofKeda, true)
})

/** The lines that say what is left out. Pure. */
export const leftOut = ({ production, scaling }: ReturnType<typeof missing>, folder: string): ReadonlyArray<string> => {
  const lacks = (files: ReadonlyArray<string>) =>
    `there is no ${files.join(", ")} (STARLING_CLUSTER_PARTS is ${folder})`
  if (production.length > 0)
    return [`== kubernetes: left out, for ${lacks(production)}: the overlay prod is not tried on a cluster`]
  if (scaling.length > 0)
    return [`== kubernetes: left out, for ${lacks(scaling)}: the overlay prod is tried without its autoscaler`]
  return []
}

/** Makes the images of the programs at hand, and returns them by the names that the charts have for them. */
export const makeControllerImages = async (): Promise<ReadonlyArray<Loaded>> => {
  const { production, scaling } = missing()
  if (production.length > 0) return []
  const programs = [...ofBrokers, ...(scaling.length > 0 ? [] : ofKeda)]
  const named = await imagesOfCharts(scaling.length === 0)
  const made: Array<Loaded> = []
  for (const of of programs)
    made.push({ from: await make(of), as: named.filter((name) => nameOnly(name) === of.image) })
  return made
}

const nameOnly = (image: string) => image.slice(0, image.lastIndexOf(":"))

const make = async ({ program, path }: ProgramImage) => {
  const tag = `starling-test-${program}:kubernetes`
  const context = mkdtempSync(join(tmpdir(), "starling-image-"))
  try {
    copyFileSync(placeOf(program) ?? program, join(context, program))
    const lines = ["FROM scratch", `COPY ${program} ${path}`, "USER 1000", `ENTRYPOINT ["${path}"]`, ""]
    writeFileSync(join(context, "Dockerfile"), lines.join("\n"))
    await within("docker", ["build", "--quiet", "--tag", tag, context], { withinMs: 300_000 })
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
  return tag
}

const brokerValues = ["--values", join(root, "deploy/k8s/nats/values-nats.yaml")]

const imagesOfCharts = async (areKedasToo: boolean) => {
  const rendered = charts()
    .filter(({ name }) => areKedasToo || !isKedas(name))
    .map(({ name, file }) => {
      const values = name === "nats/nats" ? brokerValues : []
      return within("helm", ["template", "any", placeOf(file) ?? file, "--kube-version", oldestVersion, ...values])
    })
  const texts = await Promise.all(rendered)
  const named = texts.flatMap((text) =>
    [...text.matchAll(/^[ -]*image: "?([^\s"]+)"?$/gmu)].map(([, name = ""]) => name)
  )
  return [...new Set(named)]
}

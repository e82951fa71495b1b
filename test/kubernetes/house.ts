/**
 * An operator's own overlay beside ours: configuration, secrets, images, and egress to receivers, providers and chains
 * with private addresses.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { stringify } from "yaml"
import { partOfStarling } from "../../deploy/generate/objects.ts"
import { secretsWithSolana, withSolanaIn } from "../containers/configuration.ts"
import { worldPorts } from "../containers/world-places.ts"
import { root } from "./cluster.ts"
import { outside, worldName } from "./outside.ts"

export type OverlayName = "dev" | "prod"

export const overlayFolder = (overlay: OverlayName) => join(root, "deploy/k8s/overlays", overlay)
export const namespaceOf = (overlay: OverlayName) => (overlay === "dev" ? "starling-dev" : "starling")

/** Where a pod of the cluster reaches the console, once a house adds it. */
export const consoleOrigin = (overlay: OverlayName) => `http://console.${namespaceOf(overlay)}`

const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData
})

const isSettlers = ([name]: readonly [string, string]) => name.startsWith("SETTLER_")
const given = Object.entries(secretsWithSolana)

/** The policy that lets the fleet out to the outside world of these tests. */
export const houseWayOut = "house-way-out"

/** The policy of docs/install-kubernetes.md that admits publishing services to the broker. */
export const servicesWayIn = "internal-services"

const ofTheHouse = [
  secret("starling-settler-keys", Object.fromEntries(given.filter(isSettlers))),
  secret("starling-webhook-secrets", Object.fromEntries(given.filter((entry) => !isSettlers(entry)))),
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: houseWayOut },
    spec: {
      podSelector: { matchLabels: partOfStarling },
      policyTypes: ["Egress"],
      egress: [
        {
          to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": outside } } }],
          ports: Object.values(worldPorts).map((port) => ({ port, protocol: "TCP" }))
        }
      ]
    }
  }
]

const configurationOf = (overlay: OverlayName) => {
  const ours = JSON.parse(readFileSync(join(overlayFolder(overlay), "starling.config.json"), "utf8")) as object
  const theirs = withSolanaIn(worldName)
  const Origin = `http://model-gateway.${namespaceOf(overlay)}`
  const Console = { Page: true, PageOrigins: [consoleOrigin(overlay)] }
  return { ...ours, ...theirs, Console, ModelGateway: { ...theirs.ModelGateway, Origin } }
}

const yamlOf = (objects: ReadonlyArray<object>) => objects.map((object) => stringify(object)).join("---\n")

const imagesOf = (tag: string) =>
  ["starling-fleet", "starling-speech"].map((name) => ({ name: `registry.example/${name}`, newTag: tag }))

// What is added beside the overlay has not passed its list of images.
const addedImage = { name: "starling-fleet", newTag: "dev" }

interface House {
  /** Replaces the one that the overlay names. */
  readonly release?: string
  /** Folders of deploy/k8s that the development overlay leaves out. */
  readonly adds?: ReadonlyArray<string>
}

/** Writes it to a folder that goes when `use` has ended. */
export const withHouse = async <A>(
  overlay: OverlayName,
  use: (folder: string) => Promise<A>,
  { release, adds = [] }: House = {}
): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-house-"))
  try {
    writeFileSync(join(folder, "house.yaml"), yamlOf(ofTheHouse))
    writeFileSync(join(folder, "starling.config.json"), JSON.stringify(configurationOf(overlay), null, 2))
    const kustomization = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      namespace: namespaceOf(overlay),
      resources: [
        ...[overlayFolder(overlay), ...adds.map((name) => join(root, "deploy/k8s", name))].map((it) =>
          relative(folder, it)
        ),
        "house.yaml"
      ],
      images: [...(release === undefined ? [] : imagesOf(release)), ...(adds.length === 0 ? [] : [addedImage])],
      configMapGenerator: [{ name: "starling-configuration", behavior: "replace", files: ["starling.config.json"] }]
    }
    writeFileSync(join(folder, "kustomization.yaml"), stringify(kustomization))
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

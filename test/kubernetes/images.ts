/** The images that the overlays name, as the cluster's nodes are given them: there is no registry. */
import type { Loaded } from "./cluster.ts"

/** The image that runs a script of this tree in a pod. */
export const nodeImage = "starling-fleet:dev"

/** Of the overlay prod itself, and of the one that docs/install-kubernetes.md lays over it. */
const registries = ["registry.example", "registry.example.com"]

/** The installed release, and the one that it is upgraded to: the same program by another name. */
export const releases = { installed: "0.1.0", next: "0.1.1" } as const

const released = (name: string) =>
  registries.flatMap((registry) => Object.values(releases).map((tag) => `${registry}/${name}:${tag}`))

export const images = (): ReadonlyArray<Loaded> => {
  const made = process.env["STARLING_IMAGES"] ?? "containers"
  return [
    { from: `starling-fleet:${made}`, as: [nodeImage, ...released("starling-fleet")] },
    { from: `starling-speech:${made}`, as: ["starling-speech:dev", ...released("starling-speech")] },
    // The same server; production's chart takes it on Alpine.
    { from: "nats:2.15.1", as: ["nats:2.15.1-alpine"] }
  ]
}

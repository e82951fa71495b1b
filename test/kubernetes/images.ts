/** The images that the overlays name, as the cluster's nodes are given them: there is no registry. */
import type { Loaded } from "./cluster.ts"

/** The image that runs a script of this tree in a pod. */
export const nodeImage = "starling-fleet:dev"

export const images = (): ReadonlyArray<Loaded> => {
  const made = process.env["STARLING_IMAGES"] ?? "containers"
  return [
    { from: `starling-fleet:${made}`, as: [nodeImage] },
    { from: `starling-speech:${made}`, as: ["starling-speech:dev"] },
    { from: "nats:2.15.1", as: [] }
  ]
}

/** `doctor`: what a cluster lacks for the fleet. */
import { Command, Flag } from "effect/cli"
import { json, orUndefined, text, toggle } from "../flags.ts"
import { running } from "../running.ts"

export const doctor = Command.make(
  "doctor",
  {
    kubernetes: toggle("kubernetes", "look at a cluster, through kubectl and its KUBECONFIG"),
    overlay: Flag.Directory("overlay").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("what is to be applied; else deploy/k8s/overlays/prod"),
      orUndefined
    ),
    context: text("context", "NAME", "which cluster of the kubeconfig"),
    json
  },
  (given) =>
    running(
      () => import("../doctor.ts"),
      ({ examineCluster }) => examineCluster(given)
    )
).pipe(
  Command.withShortDescription("what a cluster lacks for the fleet"),
  Command.withDescription(
    "Reads a cluster, changes nothing, and says what it lacks for an overlay: versions, namespace, controllers, secrets, certificates, brokers, volumes, capacity, ways out. Each finding has its reason and the command that mends it. Ends with 0 when nothing is missing, with 1 when something is."
  ),
  Command.withExamples([{ command: "starling doctor --kubernetes --overlay deploy/k8s/overlays/dev" }])
)

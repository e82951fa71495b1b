/**
 * Production as its operator installs it: the commands of docs/install-kubernetes.md, in a folder of their own that has
 * this tree's manifests, and the charts where helm looks for them first: `nats/nack` is a file there.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { schemas } from "../../deploy/tools.ts"
import { root, within } from "../cluster.ts"
import { missing, placeOf } from "./controllers.ts"
import { namespaceOf } from "../house.ts"
import { charts, commandsOf } from "./install-page.ts"
import { kubectl, untilReady, whatIsWrong } from "../kubectl.ts"

const namespace = namespaceOf("prod")
// Two clusters of three brokers, and then nine roles, share two processors.
const stepWithinMs = 600_000
const readyWithinMs = 300_000

export interface Installation {
  /** Runs the commands below a heading of the page, each line as `edit` returns it. Returns what they print. */
  readonly step: (heading: string, edit?: (line: string) => string) => Promise<string>
  /** The overlay that the page has its reader write. */
  readonly overlay: string
  readonly isScaled: boolean
  readonly end: () => Promise<void>
}

export const beginInstallation = (): Installation => {
  const folder = mkdtempSync(join(tmpdir(), "starling-install-"))
  cpSync(join(root, "deploy/k8s"), join(folder, "deploy/k8s"), { recursive: true })
  // Paths are meant from the folder, not from where these tests were called.
  const starling = `exec env --unset=STARLING_CALLED_FROM '${join(root, "starling")}' "$@"`
  writeFileSync(join(folder, "starling"), `#!/bin/sh\n${starling}\n`, { mode: 0o755 })
  for (const { name, file } of charts()) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    symlinkSync(placeOf(file) ?? file, join(folder, name))
  }
  return {
    step: async (heading, edit = (line) => line) => {
      const commands = commandsOf(heading).split("\n").map(edit).join("\n")
      try {
        return await within("bash", ["-euo", "pipefail", "-c", commands], { folder, withinMs: stepWithinMs })
      } catch (error) {
        throw new Error(`${heading}: ${String(error)}\n${await whatIsWrong(namespace, await madeKinds())}`, {
          cause: error
        })
      }
    },
    overlay: join(folder, "deploy/k8s/overlays/ours"),
    isScaled: missing().scaling.length === 0,
    end: async () => {
      await remove()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The kinds of the overlay, and KEDA where its programs are. No Prometheus runs, and no metrics-server. */
export const installControllers = async ({ step, isScaled }: Installation) => {
  const kinds = ["monitoring.coreos.com_podmonitors", "monitoring.coreos.com_prometheusrules"]
  for (const kind of isScaled ? kinds : [...kinds, "keda.sh_scaledobjects"])
    await kubectl("apply", "--server-side", "-f", join(schemas ?? "", `${kind}.yaml`))
  if (!isScaled) return
  // Images are on the nodes, and no registry can be asked for newer ones.
  const fromNodes = "--set image.pullPolicy=IfNotPresent"
  await step("Controllers", (line) => (line.startsWith("helm install keda ") ? `${line} ${fromNodes}` : ""))
  await untilReady("keda", readyWithinMs)
}

interface Diagnosis {
  readonly findings: ReadonlyArray<{ readonly state: string; readonly what: string }>
}

/** What the page's doctor finds missing, before the overlay is applied. */
export const missingByDoctor = async ({ step }: Installation) => {
  // It fails when something is missing, and then has still said what.
  const asked = (line: string) =>
    line.startsWith("./starling doctor") ? `${line} --json >doctor.json || [ -s doctor.json ]; cat doctor.json` : ""
  const { findings } = JSON.parse(await step("Apply", asked)) as Diagnosis
  return findings.flatMap(({ state, what }) => (state === "advice" ? [] : [what]))
}

/** Brokers with their passwords and certificates, and NACK. */
export const installBrokers = async ({ step }: Installation) => {
  for (const heading of ["Passwords", "Certificates", "Brokers", "NACK"]) await step(heading)
  await untilReady(namespace, readyWithinMs)
}

/** The kinds of the overlay that NACK makes. */
export const owned =
  "streams.jetstream.nats.io,consumers.jetstream.nats.io,keyvalues.jetstream.nats.io,objectstores.jetstream.nats.io"

/** Once NACK has told the cluster of its kinds. */
const madeKinds = async () => {
  const known = await kubectl("api-resources", "--api-group=jetstream.nats.io", "--output=name")
  return known.trim() === "" ? undefined : owned
}

// While NACK still runs: it lets go of its objects.
const remove = async () => {
  await kubectl("-n", namespace, "delete", owned, "--all", "--ignore-not-found", "--timeout=60s").catch(() => "")
  await kubectl("delete", "namespace", namespace, "--ignore-not-found", "--timeout=110s")
  if (missing().scaling.length > 0) return
  await within("helm", ["uninstall", "keda", "--namespace", "keda", "--ignore-not-found"])
  await kubectl("delete", "namespace", "keda", "--ignore-not-found", "--timeout=110s")
}

/**
 * Makes the images that the tests of this folder run, from the tree as it is: `starling-fleet:containers` and
 * `starling-speech:containers`. `STARLING_IMAGES=<tag>` takes ones that were made before.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

export default () => {
  if (process.env["STARLING_IMAGES"] !== undefined) return
  const base = spawnSync("dev/node-image.sh", { cwd: root, encoding: "utf8", timeout: 150_000 })
  const { status, stderr, error } = spawnSync("deploy/docker/build.sh", ["containers"], {
    cwd: root,
    env: { ...process.env, NODE_IMAGE: base.stdout.trim() },
    encoding: "utf8",
    timeout: 600_000
  })
  if (status !== 0) throw new Error(`the images were not made: ${error?.message ?? stderr.slice(-2_000)}`)
}
